// The times of an order: the start of each slot, the idle time of ranks, the number of forwards that wait for their
// backward; and the grid that shows them.
#include "xlc/Pipeline/Pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <tuple>

using namespace xlc;

namespace {

/// The slots that must end before one may begin, on whatever rank.
std::vector<Slot> findNeeds(const PipelineShape &shape, const Slot &slot) {
  auto [kind, s, i] = slot;
  bool isLast = s + 1 == shape.chunks();
  switch (kind) {
  case SlotKind::F:
    return s > 0 ? std::vector<Slot>{{SlotKind::F, s - 1, i}} : std::vector<Slot>{};
  case SlotKind::B:
  case SlotKind::I:
    return {isLast ? Slot{SlotKind::F, s, i} : Slot{kind, s + 1, i}};
  case SlotKind::W:
    return {{SlotKind::I, s, i}};
  }
  return {};
}

/// The most chunk forwards in flight. A forward is over with its B, or with its W where they are split.
int64_t findPeak(const PipelineSchedule &schedule, llvm::ArrayRef<Slot> slots) {
  int64_t inFlight = 0, peak = 0;
  for (const Slot &slot : slots) {
    inFlight += slot.kind == SlotKind::F;
    peak = std::max(peak, inFlight);
    inFlight -= slot.kind == (schedule.splitsBackward ? SlotKind::W : SlotKind::B);
  }
  return peak;
}

} // namespace

PipelineTimes xlc::simulate(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order,
                            const SlotTimes &durations) {
  using Key = std::tuple<SlotKind, int64_t, int64_t>;
  std::map<Key, int64_t> done;
  PipelineTimes times{std::vector<std::vector<int64_t>>(order.size()), std::vector<std::vector<int64_t>>(order.size()),
                      0, std::vector<int64_t>(order.size())};
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t rank = 0; rank < order.size(); ++rank)
      for (size_t n = times.end[rank].size(); n < order[rank].size(); n = times.end[rank].size()) {
        const Slot &slot = order[rank][n];
        int64_t begin = n ? times.end[rank].back() : 0;
        bool isReady = llvm::all_of(findNeeds(shape, slot), [&](const Slot &need) {
          auto it = done.find({need.kind, need.chunk, need.microBatch});
          begin = std::max(begin, it == done.end() ? 0 : it->second);
          return it != done.end();
        });
        if (!isReady)
          break;
        int64_t end = begin + durations.of(slot.kind);
        times.begin[rank].push_back(begin);
        times.end[rank].push_back(end);
        times.makespan = std::max(times.makespan, end);
        done[{slot.kind, slot.chunk, slot.microBatch}] = end;
        isMoving = true;
      }
  }
  for (size_t rank = 0; rank < order.size(); ++rank)
    times.peaks[rank] = findPeak(schedule, order[rank]);
  return times;
}

int64_t PipelineTimes::spanBubble(size_t rank) const {
  int64_t span = end[rank].empty() ? 0 : end[rank].back() - begin[rank].front();
  return span - makespan + bubble(rank);
}

int64_t PipelineTimes::bubble(size_t rank) const {
  int64_t busy = 0;
  for (auto [from, to] : llvm::zip(begin[rank], end[rank]))
    busy += to - from;
  return makespan - busy;
}

std::string xlc::printGrid(const PipelineSchedule &schedule, const PipelineShape &shape, const PipelineOrder &order) {
  PipelineTimes times = simulate(schedule, shape, order, {1, 1, 1, 1});
  auto label = [&](const Slot &slot) {
    std::string text(1, "FBIW"[int(slot.kind)]);
    int64_t local = slot.chunk / shape.ranks;
    if (shape.chunksPerRank > 1)
      text += local < 26 ? std::string(1, char('a' + local)) : "(" + std::to_string(local) + ")";
    return text + std::to_string(slot.microBatch);
  };
  std::vector<std::vector<std::string>> cells(order.size(), std::vector<std::string>(times.makespan, "."));
  size_t width = 1;
  for (auto [rank, slots] : llvm::enumerate(order))
    for (auto [n, slot] : llvm::enumerate(slots)) {
      std::string text = label(slot);
      width = std::max(width, text.size());
      cells[rank][times.begin[rank][n]] = text;
    }
  std::string grid;
  for (auto [rank, row] : llvm::enumerate(cells)) {
    std::string line = std::to_string(rank) + " |";
    for (const std::string &cell : row)
      line += " " + cell + std::string(width - cell.size(), ' ');
    grid += llvm::StringRef(line).rtrim().str() + "\n";
  }
  return grid;
}
