// The figures of a plan. Memory by cause is given for the fullest moment: the maxima of the causes, each at its own
// moment, would add up to more than the memory of any rank.
#include "Moments.h"
#include "xlc/Estimate/ReadAhead.h"
#include "xlc/Estimate/ResidualSlots.h"
#include "xlc/Report/Report.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr size_t kLargest = 10;

/// Keeps the ten largest, the largest first, equal ones in order of the program.
void keepLargest(std::vector<PeakBuffer> &largest, const PeakBuffer &buffer) {
  auto isLarger = [](const PeakBuffer &a, const PeakBuffer &b) { return a.bytes > b.bytes; };
  largest.insert(llvm::upper_bound(largest, buffer, isLarger), buffer);
  if (largest.size() > kLargest)
    largest.pop_back();
}

/// The types of the elements in the buffers, by number, as functions see them; null where none does, and of scratch.
SmallVector<Type> findTypes(exec::ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  SmallVector<Type> types(llvm::range_size(program.getBody().getOps<exec::BufferOp>()));
  for (auto run : program.getBody().getOps<exec::RunOp>()) {
    auto function = symbols.lookup<func::FuncOp>(run.getFunction());
    for (auto [place, slot] : llvm::zip(run.getPlaces().getAsRange<exec::PlaceAttr>(), function.getArgumentTypes())) {
      Type element = getElementTypeOrSelf(slot);
      if (Type &type = types[place.getBuffer()]; !type && !element.isInteger(8))
        type = element;
    }
  }
  return types;
}

std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

MemoryReport reportMemory(exec::ProgramOp program, bool isMixed) {
  Lifetimes lifetimes = findLifetimes(program);
  int64_t peak = findPeak(lifetimes);
  MemoryReport memory;
  memory.arena = program.getArena();
  memory.peakAction = describeMoment(program, lifetimes, peak);
  SmallVector<Type> types = isMixed ? findTypes(program) : SmallVector<Type>();
  for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers)) {
    if (interval.first > peak || interval.last < peak)
      continue;
    memory.byCause[(size_t)buffer.getCause()] += interval.size;
    memory.lowerBound += interval.size;
    if (isMixed && types[buffer.getId()])
      memory.byType[(size_t)buffer.getCause()][nameOf(types[buffer.getId()])] += interval.size;
    keepLargest(memory.largest, {buffer.getName().str(), buffer.getCause(), interval.size});
  }
  BufferNames names(program->getParentOfType<ModuleOp>());
  for (PeakBuffer &buffer : memory.largest)
    buffer.name = names.describe(buffer.name);
  return memory;
}

/// What the windows of each stream cost: the fullest moment with them and without.
void reportWindows(exec::ProgramOp program, GroupReport &group) {
  std::array<bool, exec::getMaxEnumValForStream() + 1> has{};
  for (auto action : program.getBody().front().getOps<exec::Action>())
    has[size_t(action.getStream())] |= action.getEarly() > 0 || action.getLate() > 0;
  for (size_t stream = 0; stream < has.size(); ++stream)
    if (has[stream]) {
      Quantity without = lowerBound(findLifetimes(program, /*alignment=*/1, exec::Stream(stream)).buffers);
      group.windowBytes[stream] = (Quantity(group.memory.lowerBound) - without).clamp();
    }
}

/// What follows from computed work alone, and, where the spec names a device, what it takes there.
void reportTimes(ModuleOp module, const Spec &spec, const Target &target, PlanReport &report) {
  SmallVector<exec::ProgramOp> programs = exec::programsOf(module);
  Clock work(module, workAlone(target.flopsPerByte()), /*threads=*/1);
  for (auto [group, time] : llvm::zip_equal(report.groups, timeStages(programs, work, RunOrder::List)))
    group.work = time;
  if (!spec.device)
    return;
  Clock clock(module, *spec.device, spec.threadsPerRankOrDefault());
  report.blockingStep = timeStages(programs, clock, RunOrder::List).front().step;
  RunOrder order = spec.overlaps() ? RunOrder::Streams : RunOrder::List;
  for (auto [group, time] : llvm::zip_equal(report.groups, timeStages(programs, clock, order)))
    group.time = time;
}

} // namespace

PlanReport xlc::makeReport(ModuleOp module, const Spec &spec, const Target &target, const ZeroChoice &zero) {
  PlanReport report;
  report.spec = spec;
  report.zero = zero;
  report.allRanks = trafficOfAllRanks(module);
  SmallVector<exec::ProgramOp> programs = exec::programsOf(module);
  for (exec::ProgramOp program : programs) { // ranks that differ only in dp and tp share one plan
    dist::MeshAttr mesh = program.getMesh();
    report.pp = mesh.getPp(), report.tp = mesh.getTp();
    GroupReport &group = report.groups.emplace_back();
    group.stage = program.getStage();
    group.memory = reportMemory(program, spec.precision.isMixed());
    for (exec::ProgramOp other : exec::programsOf(module, graph::Purpose::evaluate))
      if (other.getStage() == program.getStage())
        group.memory.evaluation = other.getLowerBound();
    group.memory.outside = target.outsideOf(spec.device, group.memory.arena, spec.ranks(),
                                            target.outsideLinesOf(program, spec.isDeterministic));
    group.memory.data = int64_t(readAheadOf(program, spec.ranks()).bytes());
    group.residualSlots = countResidualSlots(program);
    reportWindows(program, group);
    group.cost = costOfStep(program);
    group.traffic = trafficOfLargest(program);
    group.price = priceOfZero(program);
    for (int64_t rank = 0; rank < mesh.getStageRanks(); ++rank)
      group.ranks.push_back(group.stage * mesh.getStageRanks() + rank);
  }
  reportTimes(module, spec, target, report);
  return report;
}

int64_t PlanReport::largestTotal() const {
  int64_t largest = 0;
  for (const GroupReport &group : groups)
    largest = std::max(largest, group.memory.total());
  return largest;
}

double PlanReport::imbalance() const {
  double largest = 0, sum = 0;
  for (const GroupReport &group : groups) {
    largest = std::max(largest, group.work.busy);
    sum += group.work.busy;
  }
  return sum > 0 ? largest * double(groups.size()) / sum : 1;
}

Quantity PlanReport::largestTraffic() const {
  Quantity largest;
  for (const GroupReport &group : groups)
    largest = std::max(largest, group.traffic.total());
  return largest;
}

ZeroPrice PlanReport::zeroPrice() const {
  ZeroPrice largest;
  for (const GroupReport &group : groups)
    if (group.price.bytes > largest.bytes)
      largest = group.price;
  return largest;
}

bool PlanReport::fits() const { return !spec.deviceMemory || largestTotal() <= *spec.deviceMemory; }
