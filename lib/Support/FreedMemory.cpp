// See FreedMemory.h. `xlc` uses gperftools' malloc, which keeps freed memory itself; code that is linked without it
// uses GNU's. Other C libraries keep their own behaviour.
#include "xlc/Support/FreedMemory.h"
#include <gperftools/malloc_extension_c.h>
#include <limits>
#include <malloc.h>

#pragma weak MallocExtension_ReleaseFreeMemory // null where gperftools is not linked

void xlc::keepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

void xlc::giveBackFreedMemory() {
  if (MallocExtension_ReleaseFreeMemory)
    return MallocExtension_ReleaseFreeMemory();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
