// Bytes that ranks read from other ranks' memory, counted as the runtime counts them while it moves them.
//
// In a group of n ranks, an all_gather or reduce_scatter with slices of `count` elements reads (n - 1) count elements
// on every rank. An all_reduce is a reduce_scatter and an all_gather of slices that begin on multiples of 16 elements;
// the last one may be short or empty, so ranks differ by a few bytes, and the sum over all ranks is 2 (n - 1) count.
#ifndef XLC_ESTIMATE_TRAFFIC_H
#define XLC_ESTIMATE_TRAFFIC_H

#include "xlc/Dialect/Exec/Exec.h"

namespace xlc {

/// Bytes per step by kind of collective.
struct Traffic {
  int64_t allGather = 0, reduceScatter = 0, allReduce = 0;
  /// Of these, messages that are not worth cutting (fewer than 16 elements): loss, count and norm.
  int64_t smallMessages = 0;

  int64_t total() const { return allGather + reduceScatter + allReduce; }
  Traffic &operator+=(const Traffic &other) {
    allGather += other.allGather, reduceScatter += other.reduceScatter, allReduce += other.allReduce;
    smallMessages += other.smallMessages;
    return *this;
  }
};

/// What one rank reads in a step.
Traffic trafficOfRank(exec::ProgramOp program, int64_t rank);

/// What the rank reads that reads most: the first of each group has the longest slice.
Traffic trafficOfLargest(exec::ProgramOp program);

/// What all ranks together read in a step: the figures that the embedded plan holds and the runtime compares.
Traffic trafficOfAllRanks(exec::ProgramOp program);

} // namespace xlc

#endif
