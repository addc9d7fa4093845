// See Arena.h. Addresses are first reserved without memory, so that the mapping begins at a huge page and has exactly
// the size in the plan.
#include "Arena.h"
#include "xlc/Runtime/Limits.h"

#include <algorithm>
#include <cstring>
#include <linux/mman.h>
#include <new>
#include <sys/mman.h>

namespace xlc::runtime {
namespace {

/// Only whole ones: a rounded-up tail would be memory that the plan does not know.
uint64_t hugePagesOf(uint64_t bytes) { return bytes / kHugePage * kHugePage; }

/// Advice does nothing for shared memory where the system's switch for it is off, as it is by default. What is asked for at once
/// is made (Linux 6.1), here of pages of which a byte was written, so that little is copied. Where it is not, small pages do.
void makeHugePages(char *begin, uint64_t bytes) {
  madvise(begin, hugePagesOf(bytes), MADV_HUGEPAGE);
  for (uint64_t at = 0; at < hugePagesOf(bytes); at += kHugePage)
    begin[at] = 0;
  madvise(begin, hugePagesOf(bytes), MADV_COLLAPSE);
}

} // namespace

Arena::Arena(uint64_t bytes, uint64_t alignment, uint64_t &counted) : bytes(bytes) {
  uint64_t step = std::max<uint64_t>(alignment, kHugePage);
  reservedBytes = bytes + 2 * step;
  void *addresses = mmap(nullptr, reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED)
    throw std::bad_alloc();
  reserved = (char *)addresses;
  begin = reserved + (step - (uintptr_t)addresses % step) % step;
  if (bytes &&
      mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    munmap(reserved, reservedBytes);
    throw std::bad_alloc();
  }
  counted += bytes;
  if (bytes >= step)
    madvise(begin, hugePagesOf(bytes), MADV_HUGEPAGE);
}

Arena::Arena(const SharedPlace &place, uint64_t bytes, uint64_t &counted) : begin(place.address), bytes(bytes) {
  if (bytes &&
      mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, place.file, (off_t)place.offset) == MAP_FAILED)
    throw std::bad_alloc();
  counted += bytes;
  makeHugePages(begin, bytes);
}

Arena::~Arena() {
  if (reserved)
    munmap(reserved, reservedBytes);
}

void Arena::fill(unsigned char value) { std::memset(begin, value, bytes); }

} // namespace xlc::runtime
