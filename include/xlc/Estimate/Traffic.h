// Bytes that ranks read from other ranks' memory, counted as the runtime counts them while it moves them.
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
  /// Of these, messages that are not worth cutting (fewer than 16 elements): loss, count and norm.
  Quantity smallMessages;

  MessageBytes &along(dist::Axis axis) { return axes[(size_t)axis]; }
  const MessageBytes &along(dist::Axis axis) const { return axes[(size_t)axis]; }
  /// Over all axes.
  MessageBytes sum() const;
  Quantity total() const { return sum().total(); }
  Traffic &operator+=(const Traffic &other);
};

/// What a rank reads of others in one exchange.
Quantity bytesRead(const exec::Exchange &exchange, dist::MeshAttr mesh, int64_t rank);

/// What a rank of a program's stage reads in a step; ranks are numbered among all.
Traffic trafficOfRank(exec::ProgramOp program, int64_t rank);

/// What the rank reads that reads most: the first of each group has the longest slice.
Traffic trafficOfLargest(exec::ProgramOp program);

/// What all ranks of all stages together read in a step: the figures that the embedded plan holds and the runtime
/// compares.
Traffic trafficOfAllRanks(mlir::ModuleOp module);

/// Before there is a program: what the rank of a timeline that reads most reads over dp in a step for parameters and
/// gradients, in bytes. Not counted are loss, count and norm.
Quantity trafficOfBuckets(sched::TimelineOp timeline);

/// What ZeRO's stages 2 and 3 cost: bytes over dp for parameters and gradients, of the rank that reads most.
struct ZeroPrice {
  Quantity bytes;
  Quantity stageOne; ///< the same with the same buckets at stage 1: each is reduced and gathered once per step

  double factor() const { return stageOne ? double(bytes) / double(stageOne) : 1; }
};
ZeroPrice priceOfZero(exec::ProgramOp program);

} // namespace xlc

#endif
