// The parts of the buckets that a rank holds between the actions of a timeline.
//
// A bucket of n elements over S shards, seen by a rank of dp index d, with i = d mod S:
//
//     whole   [ slice 0 | slice 1 | ... | slice S-1 ]      shard  [ slice i ]
//
// Where units read parameters in sixteen bits, the optimizer updates a master, kept as states are.
//
// Parameters, gradients and states each are `whole` or `shard` between actions. Every element stores whether it has a
// value: reading a released, not yet gathered or not yet written element is an error. Padding between members is zero
// and always readable.
#ifndef XLC_LIB_INTERPRET_RANKS_BUCKETS_H
#define XLC_LIB_INTERPRET_RANKS_BUCKETS_H

#include "Model.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc::interpret {

/// Elements that may or may not have a value.
template <class E> struct Cells {
  std::vector<E> elements;
  std::vector<bool> isSet;

  explicit Cells(int64_t count = 0) : elements(count), isSet(count, false) {}
  void set(int64_t i, E value) {
    elements[i] = value;
    isSet[i] = true;
  }
  void clear(int64_t first, int64_t count) { std::fill_n(isSet.begin() + first, count, false); }
};

/// `count` elements of a rank's cells; the first is element `logical` of the whole bucket.
template <class E> struct Piece {
  Cells<E> *cells;
  int64_t first, logical, count;
};

template <class E> struct Bucket {
  sched::BucketOp op;
  int64_t rank, shards, index; ///< of its slice
  Cells<E> params, paramShard, grads, gradShard;
  Cells<E> master; ///< none where parameters are their own
  std::vector<Cells<E>> states;

  Bucket(sched::BucketOp op, int64_t rank, dist::MeshAttr mesh, size_t stateCount)
      : op(op), rank(rank), shards(mesh.getShards()), index(mesh.shardOf(rank)), params(elements()),
        paramShard(sliceSize()), grads(elements()), gradShard(sliceSize()),
        master(op.getMasterType() ? stateSize() : 0), states(stateCount, Cells<E>(stateSize())) {}

  static bool isSharded(sched::Extent extent) { return extent == sched::Extent::shard; }
  int64_t elements() const { return sched::BucketOp(op).getElements(); }
  int64_t sliceSize() const { return elements() / shards; }
  int64_t stateSize() const { return isSharded(sched::BucketOp(op).getStates()) ? sliceSize() : elements(); }
  bool hasMaster() const { return sched::BucketOp(op).getMasterType().has_value(); }
  int64_t sliceIndex() const { return index; }

  Piece<E> whole(Cells<E> &cells) { return {&cells, 0, 0, elements()}; }
  /// Slice i of cells that hold the whole.
  Piece<E> slice(Cells<E> &cells, int64_t i) { return {&cells, i * sliceSize(), i * sliceSize(), sliceSize()}; }
  /// This rank's slice, in the whole or in the shard.
  Piece<E> own(Cells<E> &whole, Cells<E> &shard, sched::Extent extent) {
    if (!isSharded(extent))
      return slice(whole, sliceIndex());
    return {&shard, 0, sliceIndex() * sliceSize(), sliceSize()};
  }
  Piece<E> ownParams() { return own(params, paramShard, op.getParams()); }
  Piece<E> ownGrads() { return own(grads, gradShard, op.getGrads()); }

  /// The member that element i of the bucket belongs to, or -1 for padding.
  int64_t memberAt(int64_t i) const {
    sched::BucketOp bucket = op;
    for (auto [index, offset, size] : llvm::enumerate(bucket.getOffsets(), bucket.getSizes()))
      if (i >= offset && i < offset + size)
        return index;
    return -1;
  }
  /// The member whose element a piece lacks, or empty where all of them are there.
  llvm::StringRef findUnset(const Piece<E> &piece) const {
    for (int64_t k = 0; k < piece.count; ++k)
      if (!piece.cells->isSet[piece.first + k])
        if (int64_t member = memberAt(piece.logical + k); member >= 0)
          return llvm::cast<mlir::StringAttr>(sched::BucketOp(op).getMembers()[member]).getValue();
    return {};
  }
};

} // namespace xlc::interpret

#endif
