// Bytes that ranks read from the memory of other ranks. The runtime counts the same bytes when it moves them.
//
// In a group of n ranks, an all_gather, reduce_scatter or all_to_all with slices of `count` elements reads
// (n - 1) count elements on every rank. An all_reduce is a reduce_scatter and an all_gather of slices that begin on
// multiples of 16 elements; the last one may be short or empty, so ranks differ by a few bytes, and the sum over all
// ranks is 2 (n - 1) count. A transfer is read by its receiver.
#ifndef XLC_ESTIMATE_TRAFFIC_H
#define XLC_ESTIMATE_TRAFFIC_H

#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Support/Quantity.h"
#include <array>

namespace xlc {

/// Bytes by kind of message.
struct MessageBytes {
  Quantity allGather, reduceScatter, allReduce, allToAll, transfer;

  Quantity total() const { return allGather + reduceScatter + allReduce + allToAll + transfer; }
  MessageBytes &operator+=(const MessageBytes &other) {
    allGather += other.allGather, reduceScatter += other.reduceScatter, allReduce += other.allReduce;
    allToAll += other.allToAll, transfer += other.transfer;
    return *this;
  }
};

/// Bytes per step by axis and kind: the axis is that of a collective's group, and pp for transfers.
struct Traffic {
  std::array<MessageBytes, dist::getMaxEnumValForAxis() + 1> axes;
  /// The part in messages that are too small to be sliced (fewer than 16 elements): loss, count and norm.
  Quantity smallMessages;

  MessageBytes &along(dist::Axis axis) { return axes[(size_t)axis]; }
  const MessageBytes &along(dist::Axis axis) const { return axes[(size_t)axis]; }
  /// Over all axes.
  MessageBytes sum() const;
  Quantity total() const { return sum().total(); }
  Traffic &operator+=(const Traffic &other);
};

/// Bytes that a rank reads from others in one exchange.
Quantity bytesRead(const exec::Exchange &exchange, dist::MeshAttr mesh, int64_t rank);

/// Bytes that a rank of a program's stage reads in a step; `rank` is numbered among all ranks.
Traffic trafficOfRank(exec::ProgramOp program, int64_t rank);

/// Bytes of the rank that reads most: the first of each group has the longest slice.
Traffic trafficOfLargest(exec::ProgramOp program);

/// Bytes that all ranks of all stages together read in a step: the figures that the embedded plan contains and the
/// runtime compares.
Traffic trafficOfAllRanks(mlir::ModuleOp module);

/// An estimate before there is a program: the bytes over dp for parameters and gradients in a step of a timeline, for
/// the rank that reads most. Loss, count and norm are not counted.
Quantity trafficOfBuckets(sched::TimelineOp timeline);

/// The cost of ZeRO's stages 2 and 3: bytes over dp for parameters and gradients, of the rank that reads most.
struct ZeroPrice {
  Quantity bytes;
  Quantity stageOne; ///< bytes of the same buckets at stage 1, where each is reduced and gathered once per step

  double factor() const { return stageOne ? double(bytes) / double(stageOne) : 1; }
};
ZeroPrice priceOfZero(exec::ProgramOp program);

} // namespace xlc

#endif
