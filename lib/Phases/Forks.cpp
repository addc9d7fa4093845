// See Forks.h.
#include "xlc/Phases/Forks.h"
#include "mlir/IR/Diagnostics.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Memory/Lifetimes.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Memory/Placement.h"

using namespace mlir;
using namespace xlc;

namespace {

/// What a search changes in a spec, by the names in the column `reads`. What is not here is the same in all its specs.
struct Fact {
  StringRef name;
  bool (*isSame)(const Spec &, const Spec &);
};
constexpr Fact facts[] = {
    {"dp", [](const Spec &a, const Spec &b) { return a.dp == b.dp; }},
    {"pp", [](const Spec &a, const Spec &b) { return a.pp == b.pp; }},
    {"tp", [](const Spec &a, const Spec &b) { return a.tp == b.tp; }},
    {"dims", [](const Spec &a, const Spec &b) { return a.dims == b.dims; }},
    {"batch.micro", [](const Spec &a, const Spec &b) { return a.microBatch == b.microBatch; }},
    {"micro-batches", [](const Spec &a, const Spec &b) { return a.microBatches() == b.microBatches(); }},
    {"micro-batches of all ranks",
     [](const Spec &a, const Spec &b) { return a.dp * a.microBatches() == b.dp * b.microBatches(); }},
    {"pipeline",
     [](const Spec &a, const Spec &b) {
       return a.pipeline.schedule == b.pipeline.schedule && a.chunksPerRank() == b.chunksPerRank();
     }},
    {"pipeline.cuts",
     [](const Spec &a, const Spec &b) {
       return a.pipeline.cuts.empty() || (a.pp == b.pp && a.chunksPerRank() == b.chunksPerRank());
     }},
    {"precision", [](const Spec &a, const Spec &b) { return a.precision.compute == b.precision.compute; }},
    {"loss.chunk", [](const Spec &a, const Spec &b) { return a.loss.chunk == b.loss.chunk; }},
    {"zero_stage", [](const Spec &a, const Spec &b) { return a.zeroStage == b.zeroStage; }},
    {"dp_shard", [](const Spec &a, const Spec &b) { return a.dpShardOrAll() == b.dpShardOrAll(); }},
    {"zero",
     [](const Spec &a, const Spec &b) {
       return a.zero.reduce == b.zero.reduce && a.zero.reshardAfterForward == b.zero.reshardAfterForward;
     }},
};

bool readTheSame(const Phase &phase, const Spec &a, const Spec &b) {
  SmallVector<StringRef> names;
  phase.reads.split(names, ", ");
  return llvm::all_of(facts,
                      [&](const Fact &fact) { return !llvm::is_contained(names, fact.name) || fact.isSame(a, b); });
}

/// The program of a stage, whose offsets are assigned where they matter.
struct StagePlan {
  exec::ProgramOp program;
  int64_t bytes; ///< of its arena; at least, where it is not placed yet
};

class PlanTrial : public Trial {
public:
  PlanTrial(const Compilation &from, const Spec &spec) : compilation(from.context, from.getTarget(), diagnostics) {
    compilation.modelPath = from.modelPath;
    compilation.specPath = from.specPath;
    compilation.importing = from.importing;
    compilation.importing.notes = nullptr;
    compilation.spec = spec;
    compilation.isTrial = true;
  }

  LogicalResult run(StringRef startAfter, StringRef stopAfter) {
    ScopedDiagnosticHandler handler(&compilation.context, [&](Diagnostic &d) { listen(d); });
    return runPhases(compilation, {.startAfter = startAfter.str(), .stopAfter = stopAfter.str(), .dumpDirectory = ""});
  }
  OwningOpRef<ModuleOp> &module() { return compilation.module; }
  Diagnostics &said() { return diagnostics; }
  /// The first error, without its place.
  std::string findObstacle() const {
    auto first = llvm::find_if(messages, [](const Message &message) { return message.severity == Severity::Error; });
    return first == messages.end() ? "" : first->text;
  }

  Quantity zeroTraffic() override {
    Quantity most;
    for (auto timeline : compilation.module->getOps<sched::TimelineOp>())
      most = std::max(most, trafficOfBuckets(timeline));
    return most;
  }

  std::optional<int64_t> findLeast() override {
    ScopedDiagnosticHandler handler(&compilation.context, [&](Diagnostic &d) { listen(d); });
    if (stages.empty()) {
      if (failed(lowerToPrograms(compilation)))
        return std::nullopt;
      for (auto program : compilation.module->getOps<exec::ProgramOp>())
        stages.push_back({program, lowerBound(findLifetimes(program).buffers).clamp()});
      llvm::sort(stages, [](const StagePlan &a, const StagePlan &b) { return a.bytes > b.bytes; });
    }
    return total();
  }

  std::optional<Need> findNeed(int64_t limit) override {
    for (; placed < stages.size() && total().value_or(0) <= limit; ++placed) {
      StagePlan &stage = stages[placed];
      assignOffsets(stage.program, compilation.getTarget().arenaAlignment(), /*enough=*/largestPlaced);
      stage.bytes = (int64_t)stage.program.getArena();
      largestPlaced = std::max(largestPlaced, stage.bytes);
    }
    if (!total())
      return std::nullopt;
    return Need{*total(), placed == stages.size()};
  }

  Quantity traffic() override {
    Quantity most;
    for (const StagePlan &stage : stages)
      most = std::max(most, trafficOfLargest(stage.program).total());
    return most;
  }

private:
  /// Of the fullest rank, as far as is known; none where no plan can be about so much.
  std::optional<int64_t> total() const {
    int64_t largest = 0;
    for (const StagePlan &stage : stages)
      largest = std::max(largest, stage.bytes);
    if (largest > kLargestArena)
      return std::nullopt;
    return largest + sumOf(compilation.getTarget().outsideOf(compilation.spec.device, largest));
  }

  void listen(Diagnostic &diagnostic) { diagnostics.report(toMessage(diagnostic, compilation.modelPath)); }

  std::vector<Message> messages;
  Diagnostics diagnostics{messages};
  Compilation compilation;
  SmallVector<StagePlan> stages; ///< the largest bound first
  size_t placed = 0;             ///< how many of them are
  int64_t largestPlaced = 0;     ///< another stage that takes no more does not matter
};

} // namespace

bool xlc::agreeUpTo(StringRef name, const Spec &a, const Spec &b) {
  for (const Phase &phase : getPhases().drop_front()) {
    if (!readTheSame(phase, a, b))
      return false;
    if (phase.name == name)
      return true;
  }
  return false;
}

Forks::Forks(const Compilation &from) : from(from) {
  if (from.unpartitioned)
    starts.push_back({&from.spec, "Differentiate", *from.unpartitioned});
  for (const Compilation::Kept &kept : from.kept)
    starts.push_back({&from.spec, kept.phase, kept.module.get()});
  if (from.phase == "DataParallel")
    starts.push_back({&from.spec, kLastKeptPhase, from.module.get()});
}

Forks::Start Forks::findStart(const Spec &spec) const {
  if (last && agreeUpTo(kLastKeptPhase, lastSpec, spec))
    return {&lastSpec, kLastKeptPhase, last.get()};
  for (const Start &start : llvm::reverse(starts))
    if (agreeUpTo(start.phase, *start.spec, spec))
      return start;
  return {nullptr, "Spec", {}};
}

bool Forks::isAllowed(const Spec &spec, Diagnostics &diagnostics) const {
  for (const Start &start : starts)
    for (auto [before, phase] : llvm::zip(getPhases(), getPhases().drop_front()))
      if (before.name == start.phase && phase.check && agreeUpTo(start.phase, *start.spec, spec) &&
          failed(phase.check(start.module, spec, diagnostics)))
        return false;
  return true;
}

std::unique_ptr<Trial> Forks::plan(const Spec &spec, std::string &obstacle) {
  auto trial = std::make_unique<PlanTrial>(from, spec);
  Start start = findStart(spec);
  if (!isAllowed(spec, trial->said())) {
    obstacle = trial->findObstacle();
    return nullptr;
  }
  if (start.module) {
    trial->module() = start.module.clone();
    setMesh(*trial->module(), spec);
  }
  if (start.phase != kLastKeptPhase) {
    if (failed(trial->run(start.phase, kLastKeptPhase))) {
      obstacle = trial->findObstacle();
      return nullptr;
    }
    last = trial->module()->clone();
    lastSpec = spec;
  }
  if (failed(trial->run(kLastKeptPhase, "Schedule"))) {
    obstacle = trial->findObstacle();
    return nullptr;
  }
  return trial;
}
