// See Segment.h. The size of the file is sealed: a process that shortened it would kill the others.
#include "Segment.h"

#include "Failure.h"
#include "xlc/Runtime/Limits.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

[[noreturn]] void fail(uint64_t bytes, const char *why) {
  throw NotStarted(fmt::format("error: cannot allocate {} bytes of shared memory: {}", bytes, why));
}

} // namespace

void OwnedFile::reset(int other) {
  if (file >= 0)
    close(file);
  file = other;
}

bool isWithoutRoom(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

Segment Segment::make(uint64_t bytes) {
  OwnedFile made(memfd_create("xlc", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made || ftruncate(made.get(), (off_t)bytes) != 0 ||
      fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    fail(bytes, std::strerror(errno));
  return {std::move(made), bytes};
}

Segment::Segment(OwnedFile file, uint64_t bytes) : owned(std::move(file)), reservedBytes(bytes + kHugePage) {
  struct stat status = {};
  if (fstat(owned.get(), &status) != 0 || (uint64_t)status.st_size != bytes)
    fail(bytes, "another process created it with a different size");
  void *addresses = mmap(nullptr, reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED)
    fail(bytes, std::strerror(errno));
  reserved = (char *)addresses;
  first = reserved + (kHugePage - (uintptr_t)addresses % kHugePage) % kHugePage;
  if (mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, owned.get(), 0) == MAP_FAILED) {
    int reason = errno;
    munmap(reserved, reservedBytes);
    fail(bytes, std::strerror(reason));
  }
}

Segment::~Segment() { munmap(reserved, reservedBytes); }

} // namespace xlc::runtime
