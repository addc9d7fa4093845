// See OutputFile.h. A full disk, a quota and a limit of file sizes are reported with the system's error messages. A
// process that writes files ignores SIGXFSZ, because the last of the three would otherwise end it.
#include "OutputFile.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <random>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace xlc::runtime {
namespace {

/// Of the buffer without and with bypassCache. The larger one is aligned to its size: that is a multiple of what O_DIRECT
/// requires of memory, offset and size, and a huge page, whose transfer costs a third of that of 512 pages.
constexpr size_t bufferBytes = 1 << 16, directBytes = 2 << 20;

/// Names of the temporary files that exist now, for a signal's handler, which may only look at what is always there.
/// Nobody writes more files than this at once; what finds no place would be left behind.
std::atomic<const char *> temporaries[16];

void replaceTemporary(const char *name, const char *by) {
  for (std::atomic<const char *> &each : temporaries)
    if (const char *expected = name; each.compare_exchange_strong(expected, by))
      return;
}

[[noreturn]] void reject(const std::string &path, const std::string &why) {
  throw Rejected(fmt::format("{}: error: cannot be written: {}", path, why));
}
[[noreturn]] void rejectByErrno(const std::string &path) { reject(path, std::strerror(errno)); }

/// Makes a new file beside `target`, whose name is that with six letters more, and puts the name there. It has the
/// rights of the file that it replaces. The system applies the umask to a file that replaces none: umask(2) can only be
/// read by a change of it, which other threads see. -1 and errno: the file cannot be made.
int makeTemporary(const std::string &target, std::string &name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr int mostTries = 100;
  struct stat info;
  bool replaces = stat(target.c_str(), &info) == 0;
  mode_t mode = replaces ? info.st_mode & 0777 : 0666;
  std::random_device random;
  for (int i = 0; i < mostTries; ++i) {
    name = target + ".";
    for (int k = 0; k < 6; ++k)
      name += letters[random() % letters.size()];
    int file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? mode & 0600 : mode);
    if (file >= 0 && replaces)
      fchmod(file, mode);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

/// While it lives, signals that end this process wait: a temporary file is known to removeTemporaryFiles before its
/// writer can be interrupted.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  HeldSignals(const HeldSignals &) = delete;

private:
  sigset_t before;
};

std::string withSlash(const std::string &path) { return path.find('/') == std::string::npos ? "./" + path : path; }

/// Locks a folder for as long as it lives; where that is not possible, two writers may mix.
class FolderLock {
public:
  explicit FolderLock(const std::string &path) : folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder >= 0)
      flock(folder, LOCK_EX);
  }
  ~FolderLock() {
    if (folder < 0)
      return;
    fsync(folder); // the new names, too
    close(folder);
  }
  FolderLock(const FolderLock &) = delete;

private:
  const int folder;
};

} // namespace

std::string findOutputTarget(const std::string &path, Devices devices) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT)
      rejectByErrno(path);
    return path;
  }
  std::string target = path;
  if (S_ISLNK(info.st_mode)) {
    if (stat(path.c_str(), &info) != 0)
      reject(path, errno == ENOENT ? "it is a link to a missing file" : std::strerror(errno));
    // Only a file that is replaced needs its own name. A pipe behind /proc/self/fd has none.
    std::error_code error;
    if (S_ISREG(info.st_mode))
      target = std::filesystem::canonical(path, error).string();
    if (error)
      reject(path, error.message());
  }
  if (S_ISDIR(info.st_mode))
    reject(path, std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode) && devices == Devices::Refused)
    reject(path, "not a regular file");
  return target;
}

OutputFile::OutputFile(const std::string &path, Devices devices)
    : path(path), target(withSlash(findOutputTarget(path, devices))) {
  struct stat info;
  isDevice = stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  allocate(bufferBytes);
  if (isDevice) { // a pipe that nobody reads is an error, not a wait without an end
    file = open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fcntl(file, F_SETFL, 0) != 0)
      rejectByErrno(path);
    return;
  }
  HeldSignals held;
  file = makeTemporary(target, temporary);
  if (file < 0)
    rejectByErrno(path);
  replaceTemporary(nullptr, temporary.c_str());
}

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  close(file);
  if (isDevice)
    return;
  unlink(temporary.c_str());
  replaceTemporary(temporary.c_str(), nullptr);
}

void removeTemporaryFiles() {
  for (std::atomic<const char *> &each : temporaries)
    if (const char *name = each.load())
      unlink(name);
}

void OutputFile::allocate(size_t bytes) {
  buffer.reset((char *)std::aligned_alloc(bytes, bytes));
  if (!buffer)
    throw std::bad_alloc();
  room = bytes;
  if (bytes == directBytes)
    madvise(buffer.get(), bytes, MADV_HUGEPAGE); // a hint
}

void OutputFile::bypassCache(const std::atomic<bool> &isAwaited) {
  if (isDevice)
    return;
  allocate(directBytes);
  this->isAwaited = &isAwaited, startsDisk = false;
}

/// Whether the descriptor now is as requested: not all file systems have O_DIRECT.
bool OutputFile::setDirect(bool on) {
  if (on != isDirect && fcntl(file, F_SETFL, on ? O_DIRECT : 0) == 0)
    isDirect = on;
  return isDirect == on;
}

/// The disk begins with a large file while the rest of it is written, so that the sync at its end waits for little.
/// This is a hint: what fails in it fails in the sync too. It waits where the disk's queue is full.
void OutputFile::put(const char *from, uint64_t count) {
  constexpr uint64_t stretch = 8 << 20;
  written += count;
  while (count > 0) {
    ssize_t done = ::write(file, from, count);
    bool isUnaligned = done < 0 && errno == EINVAL && isDirect; // for a disk with larger blocks, or after a short write
    if ((done < 0 && errno == EINTR) || (isUnaligned && setDirect(false)))
      continue;
    if (done < 0)
      rejectByErrno(path);
    from += done, count -= (uint64_t)done;
  }
  if (isDevice || !startsDisk || written - begun < stretch)
    return;
  sync_file_range(file, (off_t)begun, (off_t)(written - begun), SYNC_FILE_RANGE_WRITE);
  begun = written;
}

void OutputFile::putBuffer() {
  if (isAwaited)
    setDirect(!*isAwaited);
  put(buffer.get(), std::exchange(filled, 0));
}

void OutputFile::flush() {
  setDirect(false);
  isAwaited = nullptr; // what follows is not aligned
  putBuffer();
}

void OutputFile::write(const void *from, uint64_t count) {
  const char *bytes = (const char *)from;
  while (count > 0) {
    if (filled == 0 && count >= room && !isAwaited)
      return put(bytes, count);
    uint64_t some = std::min<uint64_t>(count, room - filled);
    std::memcpy(buffer.get() + filled, bytes, some);
    filled += some, bytes += some, count -= some;
    if (filled == room)
      putBuffer();
  }
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

void OutputFile::allowExecution() {
  struct stat info;
  if (!isDevice && (fstat(file, &info) != 0 || fchmod(file, (info.st_mode | (info.st_mode & 0444) >> 2) & 0777) != 0))
    rejectByErrno(path);
}

void OutputFile::publishTogether(const std::vector<OutputFile *> &files) {
  for (OutputFile *each : files) {
    each->flush();
    if (fsync(each->file) != 0 && errno != EINVAL) // EINVAL: this file system has no such thing
      rejectByErrno(each->path);
  }
  FolderLock lock(std::filesystem::path(files.front()->target).parent_path());
  for (OutputFile *each : files) {
    if (!each->isDevice && rename(each->temporary.c_str(), each->target.c_str()) != 0)
      rejectByErrno(each->path);
    replaceTemporary(each->temporary.c_str(), nullptr);
    close(each->file);
    each->file = -1;
  }
}

} // namespace xlc::runtime
