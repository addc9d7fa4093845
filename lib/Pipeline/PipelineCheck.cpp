// The independent checker. Every slot is named by its result; a rank's next slot may run when its operands have been
// computed. If no rank can continue before all are done, the ranks wait for each other, or for a result that no slot
// computes.
#include "xlc/Pipeline/PipelineCheck.h"

#include <set>
#include <tuple>

using namespace xlc;

namespace {

using Named = std::tuple<SlotKind, int64_t, int64_t>; ///< kind, chunk, micro-batch

std::string toString(const Named &slot) {
  auto [kind, chunk, microBatch] = slot;
  return std::string(1, "FBIW"[int(kind)]) + " of chunk " + std::to_string(chunk) + " for micro-batch " +
         std::to_string(microBatch);
}

/// Whether what a slot reads is there.
bool canRun(const std::set<Named> &done, const Named &slot, int64_t chunks) {
  auto [kind, chunk, microBatch] = slot;
  if (kind == SlotKind::W)
    return done.count({SlotKind::I, chunk, microBatch});
  if (kind == SlotKind::F)
    return chunk == 0 || done.count({SlotKind::F, chunk - 1, microBatch});
  bool hasOwnForward = done.count({SlotKind::F, chunk, microBatch});
  return hasOwnForward && (chunk + 1 == chunks || done.count({kind, chunk + 1, microBatch}));
}

/// Each rank has the slots of its own chunks, each once.
std::optional<std::string> findMissing(const PipelineSchedule &schedule, const PipelineShape &shape,
                                       const PipelineOrder &order) {
  std::set<Named> expected, seen;
  std::vector<SlotKind> kinds{SlotKind::F, SlotKind::B};
  if (schedule.splitsBackward)
    kinds = {SlotKind::F, SlotKind::I, SlotKind::W};
  for (SlotKind kind : kinds)
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk)
      for (int64_t i = 0; i < shape.microBatches; ++i)
        expected.insert({kind, chunk, i});
  for (size_t rank = 0; rank < order.size(); ++rank)
    for (const Slot &slot : order[rank]) {
      Named named{slot.kind, slot.chunk, slot.microBatch};
      std::string who = "rank " + std::to_string(rank) + " runs " + toString(named);
      if (!expected.count(named))
        return who + ", which is not part of the step";
      if (schedule.rankOf(shape, slot.chunk) != int64_t(rank))
        return who + ", which belongs to rank " + std::to_string(schedule.rankOf(shape, slot.chunk));
      if (!seen.insert(named).second)
        return who + " twice";
    }
  for (const Named &slot : expected)
    if (!seen.count(slot))
      return "no rank runs " + toString(slot);
  return std::nullopt;
}

} // namespace

std::optional<std::string> xlc::findOrderError(const PipelineSchedule &schedule, const PipelineShape &shape,
                                               const PipelineOrder &order) {
  if (std::optional<std::string> error = findMissing(schedule, shape, order))
    return error;
  std::set<Named> done;
  std::vector<size_t> next(order.size(), 0);
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t rank = 0; rank < order.size(); ++rank)
      for (; next[rank] < order[rank].size(); ++next[rank]) {
        const Slot &slot = order[rank][next[rank]];
        Named named{slot.kind, slot.chunk, slot.microBatch};
        if (!canRun(done, named, shape.chunks()))
          break;
        done.insert(named);
        isMoving = true;
      }
  }
  std::string waiting;
  for (size_t rank = 0; rank < order.size(); ++rank)
    if (next[rank] < order[rank].size()) {
      const Slot &slot = order[rank][next[rank]];
      waiting += (waiting.empty() ? "rank " : ", rank ") + std::to_string(rank) + " waits to run " +
                 toString({slot.kind, slot.chunk, slot.microBatch});
    }
  return waiting.empty() ? std::nullopt : std::optional("deadlock: " + waiting);
}
