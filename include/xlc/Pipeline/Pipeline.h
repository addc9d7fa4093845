// Pipeline schedules: in which order each pp rank runs the forwards and backwards of its chunks. Plain structs in and
// out; what a schedule is stands in one table (lib/Pipeline/Pipeline.cpp), whether an order is right is asked of a
// checker that shares no code with it (PipelineCheck.h).
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

/// On which rank a chunk lies: `Loop` chunk mod ranks, `V` down the ranks and up again.
enum class ChunkPlacement { Loop, V };

struct PipelineShape {
  int64_t ranks = 1, chunksPerRank = 1, microBatches = 1;
  int64_t chunks() const { return ranks * chunksPerRank; }
};

/// One row of the table of schedules.
struct PipelineSchedule {
  llvm::StringRef name;
  ChunkPlacement placement;
  int64_t leastChunks, mostChunks; ///< per rank; most 0: no limit. Where a spec says nothing there are as few as can be
  bool needsMultiple;              ///< micro-batches in a multiple of the ranks
  bool splitsBackward;             ///< I and W apart instead of B
  std::vector<Slot> (*order)(const PipelineShape &, int64_t rank);

  int64_t rankOf(const PipelineShape &shape, int64_t chunk) const {
    bool isUp = placement == ChunkPlacement::V && chunk >= shape.ranks;
    return isUp ? 2 * shape.ranks - 1 - chunk : chunk % shape.ranks;
  }
};

/// All schedules, and the one of a name (null: there is none).
llvm::ArrayRef<PipelineSchedule> getPipelineSchedules();
const PipelineSchedule *findPipelineSchedule(llvm::StringRef name);

/// What the schedule needs and the shape does not have: the rule, both values, what would do. None where it fits.
std::optional<std::string> findMisfit(const PipelineSchedule &schedule, const PipelineShape &shape);

/// The order of every rank. The shape fits.
PipelineOrder makeOrder(const PipelineSchedule &schedule, const PipelineShape &shape);

/// The same of a step without backward: each rank runs micro-batch after micro-batch, of each its chunks in order.
PipelineOrder makeForwardOrder(const PipelineSchedule &schedule, const PipelineShape &shape);

/// Time of a slot of one chunk, by kind.
struct SlotTimes {
  int64_t forward = 1, input = 1, weight = 1, backward = 2;
  int64_t of(SlotKind kind) const {
    return kind == SlotKind::F ? forward : kind == SlotKind::I ? input : kind == SlotKind::W ? weight : backward;
  }
};

/// When each slot runs if every rank runs its slots in order, each as soon as what it needs is there; transfers take no
/// time.
struct PipelineTimes {
  std::vector<std::vector<int64_t>> begin, end; ///< as the order: by rank, by slot
  int64_t makespan = 0;
  /// Idle time of a rank between its first and its last slot, and over the whole makespan.
  int64_t spanBubble(size_t rank) const;
  int64_t bubble(size_t rank) const;
  /// The most forwards of chunks whose backward is not done yet, by rank.
  std::vector<int64_t> peaks;
};
PipelineTimes simulate(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order,
                       const SlotTimes &times);

/// The order as a grid, a row per rank and a column per slot time; every slot takes one. Where a rank has several
/// chunks, they are called a, b, ...: Fa0, Fb0.
std::string printGrid(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order);

} // namespace xlc

#endif
