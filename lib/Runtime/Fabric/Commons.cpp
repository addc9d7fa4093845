// See Commons.h.
#include "Commons.h"

#include <new>
#include <sys/mman.h>

namespace xlc::runtime {

void Commons::provide() {
  void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    throw std::bad_alloc();
  memory = (char *)made, isOwn = true;
}

Commons::~Commons() {
  if (isOwn)
    munmap(memory, bytes);
}

} // namespace xlc::runtime
