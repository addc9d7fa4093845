// See InputFile.h. A file is opened before it is examined, so that its name cannot be redirected in between.
#include "xlc/Support/InputFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xlc/Support/Bytes.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;

namespace {

Error lastError() { return errorCodeToError(std::error_code(errno, std::generic_category())); }
Error refuseFile(const Twine &why) { return createStringError(std::make_error_code(std::errc::invalid_argument), why); }

/// Waits for nothing.
Expected<int> openNow(StringRef path) {
  int descriptor = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return lastError();
  return descriptor;
}

/// A copy: of a file that is mapped, bytes that somebody cuts off are a SIGBUS. One that has become shorter is as long as it is now.
Expected<std::unique_ptr<MemoryBuffer>> readAll(int descriptor, StringRef path, size_t size) {
  std::unique_ptr<WritableMemoryBuffer> buffer = WritableMemoryBuffer::getNewUninitMemBuffer(size, path);
  if (!buffer)
    return errorCodeToError(std::make_error_code(std::errc::not_enough_memory));
  for (size_t at = 0; at < size;) {
    ssize_t done = ::read(descriptor, buffer->getBufferStart() + at, size - at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return lastError();
    if (done == 0)
      return MemoryBuffer::getMemBufferCopy(StringRef(buffer->getBufferStart(), at), path);
    at += size_t(done);
  }
  return buffer;
}

} // namespace

Expected<int> xlc::openStream(StringRef path) {
  if (path == kStdin) {
    (void)lseek(STDIN_FILENO, 0, SEEK_SET);
    int copy = dup(STDIN_FILENO);
    return copy < 0 ? Expected<int>(lastError()) : copy;
  }
  Expected<int> descriptor = openNow(path);
  if (!descriptor || fcntl(*descriptor, F_SETFL, 0) == 0) // who writes by now may take its time
    return descriptor;
  Error problem = lastError();
  ::close(*descriptor);
  return problem;
}

Expected<std::unique_ptr<MemoryBuffer>> xlc::readInput(StringRef path, int64_t most) {
  Expected<int> descriptor = openNow(path);
  if (!descriptor)
    return descriptor.takeError();
  scope_exit close([&] { ::close(*descriptor); });
  struct stat status{};
  if (fstat(*descriptor, &status))
    return lastError();
  if (S_ISDIR(status.st_mode))
    return errorCodeToError(std::make_error_code(std::errc::is_a_directory));
  if (!S_ISREG(status.st_mode))
    return refuseFile("it is not a regular file");
  if (status.st_size > most)
    return refuseFile("it has " + formatBytes(status.st_size) + ", the limit is " + formatBytes(most));
  return readAll(*descriptor, path, size_t(status.st_size));
}
