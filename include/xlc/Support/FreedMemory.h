// What becomes of memory that is freed. Tensors of a hundred megabytes come and go thousands of times in a
// verification: given back to the system in between, a third of the time would go into pages that it clears anew.
#ifndef XLC_SUPPORT_FREEDMEMORY_H
#define XLC_SUPPORT_FREEDMEMORY_H

namespace xlc {

/// From now on freed memory is kept for what is allocated next, in this process.
void keepFreedMemory();

/// What is free now is given back: the next allocations have other sizes.
void giveBackFreedMemory();

} // namespace xlc

#endif
