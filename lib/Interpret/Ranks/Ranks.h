// A rank of a timeline: its buckets, activations and scalars; how it starts and what it ends with.
#ifndef XLC_LIB_INTERPRET_RANKS_RANKS_H
#define XLC_LIB_INTERPRET_RANKS_RANKS_H

#include "Buckets.h"

namespace xlc::interpret {

template <class E> struct Rank {
  int64_t index = 0;
  llvm::MapVector<mlir::StringAttr, Bucket<E>> buckets;
  llvm::DenseMap<mlir::Value, Datum<E>> activations;
  Values<E> scalars; ///< "@loss_sum", "@loss_count", "@sum_squares"; then "@loss", "@norm", "@scale"
};

/// Rank r before the first step: its piece of every parameter of its stage, states zero.
template <class E> Rank<E> makeRank(sched::TimelineOp op, int64_t r, const Model &model, const Source<E> &source);

/// What every rank, with those it shares shards with, holds after a step: the parameters and states of its stage, and
/// the loss. An element that nobody holds is an error.
template <class E>
llvm::LogicalResult collectValues(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, const Model &model,
                                  std::vector<Values<E>> &values);

} // namespace xlc::interpret

#endif
