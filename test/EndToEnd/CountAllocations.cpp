// Counts the allocations above 4 kB of a program into which it is preloaded, and says the number when the program ends.
//
// A step allocates nothing large exactly when a run of many steps says the same number as a run of few. The functions
// of the C library are called under their inner names, so that nothing is looked up before anything can be allocated.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr size_t largestUncounted = 4096;

std::atomic<unsigned long> large{0};

void count(size_t bytes) {
  if (bytes > largestUncounted)
    large.fetch_add(1, std::memory_order_relaxed);
}

struct AtEnd {
  ~AtEnd() { std::fprintf(stderr, "allocations above %zu bytes: %lu\n", largestUncounted, large.load()); }
} atEnd;

} // namespace

extern "C" {

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t number, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  count(number * bytes);
  return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
  count(bytes);
  return __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
  *result = memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  count(bytes);
  return reinterpret_cast<void *>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

} // extern "C"
