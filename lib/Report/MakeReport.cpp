// The figures of a plan. Memory by cause is that of the fullest moment: maxima of the causes, each at its own moment,
// would add up to more than any rank ever holds.
#include "xlc/Memory/Lifetimes.h"
#include "xlc/Report/Report.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr size_t kLargest = 10;

/// The first moment at which most bytes are live.
int64_t findPeak(const Lifetimes &lifetimes) {
  std::vector<int64_t> change(lifetimes.moments + 2, 0);
  for (const Interval &interval : lifetimes.buffers) {
    change[interval.first] += interval.size;
    change[interval.last + 1] -= interval.size;
  }
  int64_t live = 0, most = -1, peak = 0;
  for (auto [moment, bytes] : llvm::enumerate(change)) {
    live += bytes;
    if (live > most)
      most = live, peak = moment;
  }
  return peak;
}

/// "layer[3] B: kernel_7", or the name of an action without functions.
std::string describeMoment(exec::ProgramOp program, const Lifetimes &lifetimes, int64_t moment) {
  auto actions =
      llvm::make_filter_range(program.getBody().front(), [](Operation &op) { return !isa<exec::BufferOp>(op); });
  size_t number = llvm::upper_bound(lifetimes.starts, moment) - lifetimes.starts.begin();
  for (auto [i, action] : llvm::enumerate(actions)) {
    if (i + 1 != number)
      continue;
    if (auto label = action.getAttrOfType<StringAttr>("label"))
      return label.str();
    return action.getName().stripDialect().str();
  }
  return "";
}

MemoryReport reportMemory(exec::ProgramOp program) {
  Lifetimes lifetimes = findLifetimes(program);
  int64_t peak = findPeak(lifetimes);
  MemoryReport memory;
  memory.arena = program.getArena();
  memory.peakAction = describeMoment(program, lifetimes, peak);
  for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers)) {
    if (interval.first > peak || interval.last < peak)
      continue;
    memory.byCause[(size_t)buffer.getCause()] += interval.size;
    memory.lowerBound += interval.size;
    memory.largest.push_back({buffer.getName().str(), buffer.getCause(), interval.size});
  }
  std::stable_sort(memory.largest.begin(), memory.largest.end(),
                   [](const PeakBuffer &a, const PeakBuffer &b) { return a.bytes > b.bytes; });
  memory.largest.resize(std::min(kLargest, memory.largest.size()));
  return memory;
}

} // namespace

PlanReport xlc::makeReport(exec::ProgramOp program, const Spec &spec) {
  PlanReport report;
  report.spec = spec;
  report.allRanks = trafficOfAllRanks(program);
  GroupReport &group = report.groups.emplace_back(); // ranks that differ only in dp share one plan
  group.memory = reportMemory(program);
  group.cost = costOfStep(program);
  for (int64_t rank = 0; rank < (int64_t)program.getRanks(); ++rank) {
    group.ranks.push_back(rank);
    Traffic traffic = trafficOfRank(program, rank);
    if (traffic.total() > group.traffic.total())
      group.traffic = traffic;
  }
  return report;
}

int64_t PlanReport::largestTotal() const {
  int64_t largest = 0;
  for (const GroupReport &group : groups)
    largest = std::max(largest, group.memory.total());
  return largest;
}

int64_t PlanReport::largestTraffic() const {
  int64_t largest = 0;
  for (const GroupReport &group : groups)
    largest = std::max(largest, group.traffic.total());
  return largest;
}

bool PlanReport::fits() const { return !spec.deviceMemory || largestTotal() <= *spec.deviceMemory; }
