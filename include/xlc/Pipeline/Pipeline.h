// Pipeline schedules: the order in which each pp rank runs the forwards and backwards of its chunks. Plain structs in
// and out. One table defines the schedules (lib/Pipeline/Pipeline.cpp), and a checker that shares no code with it
// verifies an order (PipelineCheck.h).
//
//   1f1b, 3 ranks, 4 micro-batches          zb-v, rank 1 of 3: stages a = 1 on the way down, b = 4 on the way up
//   0 | F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3     ranks  0 a       b 0
//   1 | .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .             1 a     b 1
//   2 | .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .             2 a   b 2
#ifndef XLC_PIPELINE_PIPELINE_H
#define XLC_PIPELINE_PIPELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace xlc {

enum class SlotKind { F, B, I, W }; ///< B is I, then W

/// One entry of a rank's order: a stage (consecutive units; `chunk` numbers all stages of the model) runs one
/// micro-batch.
struct Slot {
  SlotKind kind;
  int64_t chunk, microBatch;
  bool operator==(const Slot &) const = default;
};
using PipelineOrder = std::vector<std::vector<Slot>>; ///< by pp rank

/// The rank of a chunk: `Loop` chunk mod ranks, `V` down the ranks and up again.
enum class ChunkPlacement { Loop, V };

struct PipelineShape {
  int64_t ranks = 1, chunksPerRank = 1, microBatches = 1;
  int64_t chunks() const { return ranks * chunksPerRank; }
};

/// One row of the table of schedules.
struct PipelineSchedule {
  llvm::StringRef name;
  ChunkPlacement placement;
  /// per rank; most 0: no limit. The default of a spec is the smallest possible number
  int64_t leastChunks, mostChunks;
  bool needsMultiple;  ///< the number of micro-batches must be a multiple of the number of ranks
  bool splitsBackward; ///< I and W separately instead of B
  std::vector<Slot> (*order)(const PipelineShape &, int64_t rank);

  int64_t rankOf(const PipelineShape &shape, int64_t chunk) const {
    bool isUp = placement == ChunkPlacement::V && chunk >= shape.ranks;
    return isUp ? 2 * shape.ranks - 1 - chunk : chunk % shape.ranks;
  }
};

/// All schedules, and the one with a name, or null.
llvm::ArrayRef<PipelineSchedule> getPipelineSchedules();
const PipelineSchedule *findPipelineSchedule(llvm::StringRef name);

/// The requirement of the schedule that the shape does not meet: the rule, both values, a remedy. None if it meets all.
std::optional<std::string> findMisfit(const PipelineSchedule &schedule, const PipelineShape &shape);

/// The order of every rank. The shape must meet the schedule's requirements.
PipelineOrder makeOrder(const PipelineSchedule &schedule, const PipelineShape &shape);

/// The same for a step without backward: each rank runs one micro-batch after the other, and its chunks in order for
/// each.
PipelineOrder makeForwardOrder(const PipelineSchedule &schedule, const PipelineShape &shape);

/// Time of a slot of one chunk, by kind.
struct SlotTimes {
  int64_t forward = 1, input = 1, weight = 1, backward = 2;
  int64_t of(SlotKind kind) const {
    return kind == SlotKind::F ? forward : kind == SlotKind::I ? input : kind == SlotKind::W ? weight : backward;
  }
};

/// The times of slots if every rank runs its slots in order, each as soon as its inputs are available; transfers take
/// no time.
struct PipelineTimes {
  std::vector<std::vector<int64_t>> begin, end; ///< indexed like the order: by rank, by slot
  int64_t makespan = 0;
  /// Idle time of a rank between its first and its last slot, and over the whole makespan.
  int64_t spanBubble(size_t rank) const;
  int64_t bubble(size_t rank) const;
  /// The maximum number of forwards of chunks whose backward has not run, by rank.
  std::vector<int64_t> peaks;
};
PipelineTimes simulate(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order,
                       const SlotTimes &times);

/// The order as a grid, a row per rank and a column per slot time; every slot takes one. If a rank has several chunks,
/// they are named a, b, ...: Fa0, Fb0.
std::string printGrid(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order);

} // namespace xlc

#endif
