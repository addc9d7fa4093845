// See OutputFile.h. A disk that is full, a quota and a limit of file sizes are named by the system's own words; a
// process that writes files ignores SIGXFSZ, or the last of the three would end it.
#include "OutputFile.h"

#include "Failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr size_t bufferBytes = 1 << 16;

[[noreturn]] void reject(const std::string &path, const std::string &why) {
  throw Rejected(fmt::format("{}: error: cannot be written: {}", path, why));
}
[[noreturn]] void rejectByErrno(const std::string &path) { reject(path, std::strerror(errno)); }

/// The rights of a new file, or of the one that is replaced: who could not read it cannot read the new one.
mode_t findMode(const std::string &target) {
  struct stat info;
  if (stat(target.c_str(), &info) == 0)
    return info.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

void writeAll(int file, const std::string &path, const char *from, uint64_t count) {
  while (count > 0) {
    ssize_t done = ::write(file, from, count);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      rejectByErrno(path);
    from += done, count -= (uint64_t)done;
  }
}

} // namespace

std::string findOutputTarget(const std::string &path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT)
      rejectByErrno(path);
    return path;
  }
  std::string target = path;
  if (S_ISLNK(info.st_mode)) {
    std::error_code error;
    target = std::filesystem::canonical(path, error).string();
    if (error || stat(target.c_str(), &info) != 0)
      reject(path, "it is a link to a file that is missing");
  }
  if (S_ISDIR(info.st_mode))
    reject(path, std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode))
    reject(path, "not a regular file");
  return target;
}

void syncFile(int file, const std::string &path) {
  if (fsync(file) != 0 && errno != EINVAL && errno != EROFS)
    rejectByErrno(path);
}

OutputFile::OutputFile(const std::string &path)
    : path(path), target(findOutputTarget(path)), temporary(target + ".XXXXXX") {
  file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    rejectByErrno(path);
  fchmod(file, findMode(target));
  buffer.reserve(bufferBytes);
}

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  close(file);
  unlink(temporary.c_str());
}

void OutputFile::flush() {
  writeAll(file, path, buffer.data(), buffer.size());
  buffer.clear();
}

void OutputFile::write(const void *from, uint64_t count) {
  const char *bytes = (const char *)from;
  if (buffer.size() + count > bufferBytes)
    flush();
  if (count > bufferBytes)
    return writeAll(file, path, bytes, count);
  buffer.insert(buffer.end(), bytes, bytes + count);
}

void OutputFile::rewrite(uint64_t at, std::string_view text) {
  flush();
  while (!text.empty()) {
    ssize_t done = pwrite(file, text.data(), text.size(), (off_t)at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      rejectByErrno(path);
    at += (uint64_t)done;
    text.remove_prefix((size_t)done);
  }
}

void OutputFile::publish() {
  flush();
  syncFile(file, path);
  if (rename(temporary.c_str(), target.c_str()) != 0)
    rejectByErrno(path);
  close(file);
  file = -1;
}

} // namespace xlc::runtime
