// The table of pipeline schedules, and their requirements on ranks, chunks and micro-batches.
#include "xlc/Pipeline/Pipeline.h"

#include "PipelineOrders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace xlc;

namespace {

constexpr int64_t any = 0;

constexpr PipelineSchedule schedules[] = {
    // name, placement, chunks at least, at most, multiple, splits
    {"gpipe", ChunkPlacement::Loop, 1, 1, false, false, orderGpipe},
    {"1f1b", ChunkPlacement::Loop, 1, 1, false, false, order1f1b},
    {"eager-1f1b", ChunkPlacement::Loop, 1, 1, false, false, orderEager1f1b},
    {"interleaved", ChunkPlacement::Loop, 2, any, true, false, orderInterleaved},
    {"zb-h1", ChunkPlacement::Loop, 1, 1, false, true, orderZeroBubbleH1},
    {"zb-h2", ChunkPlacement::Loop, 1, 1, false, true, orderZeroBubbleH2},
    {"zb-v", ChunkPlacement::V, 2, 2, false, true, orderZeroBubbleV},
};

} // namespace

llvm::ArrayRef<PipelineSchedule> xlc::getPipelineSchedules() { return schedules; }

const PipelineSchedule *xlc::findPipelineSchedule(llvm::StringRef name) {
  auto *it = llvm::find_if(schedules, [&](const PipelineSchedule &schedule) { return schedule.name == name; });
  return it == std::end(schedules) ? nullptr : it;
}

std::optional<std::string> xlc::findMisfit(const PipelineSchedule &schedule, const PipelineShape &shape) {
  int64_t v = shape.chunksPerRank, m = shape.microBatches, p = shape.ranks;
  if (v < schedule.leastChunks && schedule.mostChunks != schedule.leastChunks)
    return llvm::formatv("schedule {0} needs {1} or more chunks per rank, not {2}", schedule.name, schedule.leastChunks,
                         v);
  if (v < schedule.leastChunks || (schedule.mostChunks != any && v > schedule.mostChunks))
    return llvm::formatv("schedule {0} needs {1} chunk{2} per rank, not {3}", schedule.name, schedule.leastChunks,
                         schedule.leastChunks == 1 ? "" : "s", v);
  if (schedule.needsMultiple && m % p != 0) {
    std::string below = m > p ? llvm::formatv("{0} or ", m / p * p).str() : "";
    return llvm::formatv(
        "schedule {0} needs a number of micro-batches divisible by pp = {1}, but there are {2}; {3}{4} would work",
        schedule.name, p, m, below, (m / p + 1) * p);
  }
  return std::nullopt;
}

PipelineOrder xlc::makeForwardOrder(const PipelineSchedule &schedule, const PipelineShape &shape) {
  PipelineOrder order(shape.ranks);
  for (int64_t microBatch = 0; microBatch < shape.microBatches; ++microBatch)
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk)
      order[schedule.rankOf(shape, chunk)].push_back({SlotKind::F, chunk, microBatch});
  return order;
}

PipelineOrder xlc::makeOrder(const PipelineSchedule &schedule, const PipelineShape &shape) {
  PipelineOrder order;
  for (int64_t rank = 0; rank < shape.ranks; ++rank)
    order.push_back(schedule.order(shape, rank));
  return order;
}
