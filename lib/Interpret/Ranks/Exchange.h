// A collective of ranks with arenas of their own: all operands are read before any result is written.
#ifndef XLC_LIB_INTERPRET_RANKS_EXCHANGE_H
#define XLC_LIB_INTERPRET_RANKS_EXCHANGE_H

#include "Memory.h"

namespace xlc::interpret {

using exec::Exchange;

/// A rank in a group; spans are contiguous.
template <class E> struct Participant {
  Memory<E> *memory;
  Access access;
  Span src, dst;
};

/// `group` by index. Elements that are not there travel as what they are: nothing.
template <class E> llvm::LogicalResult exchange(const Exchange &what, llvm::ArrayRef<Participant<E>> group);

} // namespace xlc::interpret

#endif
