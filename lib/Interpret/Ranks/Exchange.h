// A collective of ranks with arenas of their own: what each reads is taken first, then each writes.
#ifndef XLC_LIB_INTERPRET_RANKS_EXCHANGE_H
#define XLC_LIB_INTERPRET_RANKS_EXCHANGE_H

#include "Memory.h"

namespace xlc::interpret {

/// What a collective does, as exec.collective says it; `accumulate` adds to dst instead of writing.
struct Exchange {
  exec::CollectiveKind kind;
  int64_t outer, chunk;
  bool accumulate = false;
  int64_t rows = 1; ///< of an all_to_all, as `ranksFirst`
  bool ranksFirst = false;

  int64_t sourceElements(int64_t ranks) const {
    using Kind = exec::CollectiveKind;
    return outer * rows * chunk * (kind == Kind::reduce_scatter || kind == Kind::all_to_all ? ranks : 1);
  }
  int64_t resultElements(int64_t ranks) const {
    using Kind = exec::CollectiveKind;
    return outer * rows * chunk * (kind == Kind::all_gather || kind == Kind::all_to_all ? ranks : 1);
  }
};

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
