// See InputFile.h.
#include "InputFile.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

/// Why what was opened cannot be read as a file, or nothing; it waits from now on.
std::string findFault(int file, uint64_t &bytes) {
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0)
    return std::strerror(errno);
  if (!S_ISREG(info.st_mode))
    return "not a regular file";
  bytes = (uint64_t)info.st_size;
  return fcntl(file, F_SETFL, O_RDONLY) != 0 ? std::strerror(errno) : "";
}

} // namespace

InputFile::InputFile(const std::string &path)
    : path(path), file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  std::string why = findFault(file, bytes);
  if (why.empty())
    return;
  if (file >= 0)
    close(file);
  reject("cannot be read: " + why);
}

InputFile::~InputFile() { close(file); }

void InputFile::reject(const std::string &why) const { throw Rejected(fmt::format("{}: error: {}", path, why)); }

std::string InputFile::tryRead(uint64_t from, uint64_t count, void *to, uint64_t *done) const {
  constexpr uint64_t most = 64 << 20;
  uint64_t read = 0;
  std::string why;
  while (read < count && why.empty()) {
    ssize_t some = pread(file, (char *)to + read, std::min(count - read, most), (off_t)(from + read));
    if (some > 0)
      read += (uint64_t)some;
    else if (some == 0)
      why = "became shorter while it was read";
    else if (errno != EINTR)
      why = fmt::format("cannot be read: {}", std::strerror(errno));
  }
  if (done)
    *done = read;
  return why;
}

void InputFile::read(uint64_t from, uint64_t count, void *to) const {
  if (std::string why = tryRead(from, count, to); !why.empty())
    reject(why);
}

} // namespace xlc::runtime
