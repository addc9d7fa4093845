// Reuse of freed memory. A verification allocates and frees tensors of a hundred megabytes thousands of times. If their
// memory were returned to the system each time, a third of the time would be spent on pages that the system clears
// again.
#ifndef XLC_SUPPORT_FREEDMEMORY_H
#define XLC_SUPPORT_FREEDMEMORY_H

namespace xlc {

/// From this call on, keeps freed memory for later allocations of this process.
void keepFreedMemory();

/// Returns the memory that is currently free to the system, because later allocations have other sizes.
void giveBackFreedMemory();

} // namespace xlc

#endif
