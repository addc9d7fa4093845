// See Arena.h. Addresses are reserved without memory behind them, so that the mapping itself can begin at a huge
// page and is exactly as long as the plan says.
#include "Arena.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace xlc::runtime {

Arena::Arena(uint64_t bytes, uint64_t alignment, uint64_t &counted) : bytes(bytes) {
  uint64_t step = std::max<uint64_t>(alignment, 2 << 20);
  reservedBytes = bytes + 2 * step;
  void *addresses = mmap(nullptr, reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED)
    throw std::bad_alloc();
  reserved = (char *)addresses;
  begin = (char *)(((uintptr_t)addresses + step - 1) / step * step);
  if (bytes &&
      mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    munmap(reserved, reservedBytes);
    throw std::bad_alloc();
  }
  counted += bytes;
  useHugePages(step);
}

Arena::Arena(const SharedPlace &place, uint64_t bytes, uint64_t &counted) : begin(place.address), bytes(bytes) {
  if (bytes &&
      mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, place.file, (off_t)place.offset) == MAP_FAILED)
    throw std::bad_alloc();
  counted += bytes;
  useHugePages(2 << 20);
}

/// Only whole ones: a rounded-up tail would be memory that the plan does not know.
void Arena::useHugePages(uint64_t least) {
  if (bytes >= least)
    madvise(begin, bytes / (2 << 20) * (2 << 20), MADV_HUGEPAGE);
}

Arena::~Arena() {
  if (reserved)
    munmap(reserved, reservedBytes);
}

void Arena::fill(unsigned char value) { std::memset(begin, value, bytes); }

} // namespace xlc::runtime
