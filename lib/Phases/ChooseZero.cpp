// When gradients are reduced and how long parameters stay gathered, where the spec says `auto`.
//
// Both are a price in memory for fewer bytes, and memory is known when the last phase has placed the last buffer.
// So nothing is estimated: each combination is planned, the one that moves least first, until a plan fits. Traffic
// needs no memory plan: up to Schedule all are planned, from there on usually one.
#include "ChooseZero.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Estimate/Outside.h"
#include "xlc/Estimate/Traffic.h"
#include <map>

using namespace mlir;
using namespace xlc;
using Origin = ZeroChoice::Origin;

namespace {

/// What the spec says; what it leaves open saves memory, which stages 2 and 3 are asked for.
ZeroChoice ofSpec(const Spec &spec) {
  using Reduce = ZeroSpec::Reduce;
  const std::optional<bool> &reshards = spec.zero.reshardAfterForward;
  Origin open = spec.deviceMemory ? Origin::Memory : Origin::Default;
  bool isSharding = spec.dpShardOrAll() > 1;
  ZeroChoice choice;
  choice.reducesPerStep = spec.zero.reduce == Reduce::Step;
  choice.keepsGathered = !reshards.value_or(true);
  if (isSharding && spec.zeroStage >= 2 && spec.microBatches() > 1)
    choice.reduce = spec.zero.reduce == Reduce::Auto ? open : Origin::Given;
  if (isSharding && spec.zeroStage == 3)
    choice.gather = reshards ? Origin::Given : open;
  return choice;
}

/// All answers to the open questions; those that save memory first, which win where they move no more.
std::vector<ZeroTrial> listTrials(const ZeroChoice &choice) {
  std::vector<ZeroTrial> trials = {{choice.reducesPerStep, choice.keepsGathered, 0, {}}};
  auto branch = [&](Origin origin, bool ZeroTrial::*answer) {
    for (size_t i = 0, end = trials.size(); origin == Origin::Memory && i < end; ++i) {
      trials.push_back(trials[i]);
      trials.back().*answer = true;
    }
  };
  branch(choice.reduce, &ZeroTrial::reducesPerStep);
  branch(choice.gather, &ZeroTrial::keepsGathered);
  return trials;
}

/// A compilation that goes on from Stage's module by itself, with everything given.
class Planning {
public:
  Planning(const Compilation &from, const ZeroTrial &trial) : compilation(from.context, llvm::nulls()) {
    compilation.spec = from.spec;
    compilation.spec.zero.reduce = trial.reducesPerStep ? ZeroSpec::Reduce::Step : ZeroSpec::Reduce::MicroBatch;
    compilation.spec.zero.reshardAfterForward = !trial.keepsGathered;
    compilation.module = from.module.get().clone();
  }

  /// None where the phases up to Schedule fail.
  std::optional<Quantity> findTraffic() {
    if (failed(run("Stage", "Schedule")))
      return std::nullopt;
    Quantity most;
    for (auto timeline : compilation.module->getOps<sched::TimelineOp>())
      most = std::max(most, trafficOfBuckets(timeline));
    return most;
  }

  /// After findTraffic. None where Memory fails.
  std::optional<int64_t> findTotal() {
    if (failed(run("Schedule", "")))
      return std::nullopt;
    int64_t largest = 0;
    for (auto program : compilation.module->getOps<exec::ProgramOp>())
      largest = std::max<int64_t>(largest, program.getArena());
    return largest + kOutsideBytes;
  }

private:
  LogicalResult run(StringRef startAfter, StringRef stopAfter) {
    ScopedDiagnosticHandler silence(&compilation.context, [](Diagnostic &) { return success(); });
    RunOptions options;
    options.startAfter = startAfter.str(), options.stopAfter = stopAfter.str();
    return runPhases(compilation, options);
  }

  Compilation compilation;
};

/// Fills in what the trials take, in the order of their traffic, up to the first that fits. Those that cannot be
/// planned are dropped; where none is left, the default is planned, and says what is wrong.
void plan(const Compilation &compilation, std::vector<ZeroTrial> &trials) {
  std::multimap<Quantity, std::pair<ZeroTrial, std::unique_ptr<Planning>>> plannings; // by traffic
  for (ZeroTrial trial : trials) {
    auto planning = std::make_unique<Planning>(compilation, trial);
    if (std::optional<Quantity> traffic = planning->findTraffic()) {
      trial.traffic = *traffic;
      plannings.emplace(*traffic, std::pair(trial, std::move(planning)));
    }
  }
  trials.clear();
  bool isFound = false;
  for (auto &[traffic, each] : plannings) {
    auto &[trial, planning] = each;
    if (!isFound && !(trial.total = planning->findTotal()))
      continue;
    planning.reset();
    isFound |= trial.total && *trial.total <= *compilation.spec.deviceMemory;
    trials.push_back(trial);
  }
}

} // namespace

ZeroChoice xlc::chooseZero(const Compilation &compilation) {
  ZeroChoice choice = ofSpec(compilation.spec);
  if (choice.reduce != Origin::Memory && choice.gather != Origin::Memory)
    return choice;
  choice.trials = listTrials(choice);
  plan(compilation, choice.trials);
  const ZeroTrial *chosen = nullptr; // the one that fits is the last that was planned; else the smallest
  for (const ZeroTrial &trial : choice.trials)
    if (trial.total && (!chosen || *trial.total < *chosen->total))
      chosen = &trial;
  if (chosen) {
    choice.reducesPerStep = chosen->reducesPerStep;
    choice.keepsGathered = chosen->keepsGathered;
  }
  return choice;
}
