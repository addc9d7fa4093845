// See FreedMemory.h. Other C libraries than GNU's do as they do.
#include "xlc/Support/FreedMemory.h"
#include <limits>
#include <malloc.h>

void xlc::keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void xlc::giveBackFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
