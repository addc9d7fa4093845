// A micro-batch that a tensor-parallel group computes together, as if one rank computed it.
#ifndef XLC_LIB_INTERPRET_RANKS_SHARDED_H
#define XLC_LIB_INTERPRET_RANKS_SHARDED_H

#include "Model.h"

namespace xlc::interpret {

/// Runs @micro_batch, after Shard, on all ranks of its group: each gets its pieces of the whole `arguments`, and what
/// they return is put together, pieces to wholes and partial sums to sums. Copies that differ are an error. Without any
/// split parameter one rank runs it.
template <class E>
llvm::LogicalResult runMicroBatch(mlir::func::FuncOp function, llvm::ArrayRef<const Datum<E> *> arguments,
                                  const Options &options, llvm::SmallVectorImpl<Datum<E>> &results);

} // namespace xlc::interpret

#endif
