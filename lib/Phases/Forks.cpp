// See Forks.h.
#include "xlc/Phases/Forks.h"
#include "mlir/IR/Diagnostics.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Memory/Lifetimes.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Memory/Placement.h"
#include <thread>

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

size_t numberOf(StringRef phase) {
  return llvm::find_if(getPhases(), [&](const Phase &each) { return each.name == phase; }) - getPhases().begin();
}

bool readTheSame(const Phase &phase, const Spec &a, const Spec &b) {
  SmallVector<StringRef> names;
  phase.reads.split(names, ", ");
  return llvm::all_of(facts,
                      [&](const Fact &fact) { return !llvm::is_contained(names, fact.name) || fact.isSame(a, b); });
}

/// The program of a stage, whose offsets are assigned where they matter.
struct StagePlan {
  exec::ProgramOp program;
  int64_t bytes;  ///< of its arena; at least, where it is not placed yet
  int64_t beside; ///< the arena, what the program has of its own
  int64_t sum() const { return bytes + beside; }
};

/// What a stage's timeline is lowered from, without the others.
OwningOpRef<ModuleOp> copyStage(ModuleOp module, sched::TimelineOp timeline) {
  SymbolTable symbols(module);
  SmallVector<Operation *> work{timeline};
  DenseSet<Operation *> used{timeline};
  while (!work.empty()) {
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(work.pop_back_val());
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *symbol = symbols.lookup(use.getSymbolRef().getRootReference()); used.insert(symbol).second)
        work.push_back(symbol);
  }
  auto copy = cast<ModuleOp>(module->cloneWithoutRegions());
  OpBuilder builder = OpBuilder::atBlockEnd(&copy.getBodyRegion().emplaceBlock());
  for (Operation &op : *module.getBody())
    if (used.contains(&op) || !isa<sched::TimelineOp, func::FuncOp>(op))
      builder.clone(op);
  return copy;
}

/// Where the stage that takes most stands among all, from 0 to 1, where programs have been planned.
double findFullest(const Compilation &compilation) {
  int64_t most = 0, fullest = 0, last = 0;
  for (auto program : compilation.module.get().getOps<exec::ProgramOp>()) {
    last = std::max<int64_t>(last, program.getStage());
    if ((int64_t)program.getArena() > most)
      most = program.getArena(), fullest = program.getStage();
  }
  return last > 0 ? double(fullest) / double(last) : 0;
}

class PlanTrial : public Trial {
public:
  /// `fullest`: which stage probably takes most, from 0, the first, to 1, the last.
  PlanTrial(const Compilation &from, const Spec &spec, double fullest)
      : compilation(from, spec, diagnostics), fullest(fullest) {
    compilation.isTrial = true;
  }

  LogicalResult run(StringRef startAfter, StringRef stopAfter) {
    Listener listener(*this);
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

  std::optional<int64_t> findLeast(int64_t limit) override {
    Listener listener(*this);
    if (!stages.empty())
      return total();
    if (!ofOneStage)
      ofOneStage = findLeastOfOneStage();
    if (ofOneStage > limit)
      return ofOneStage;
    if (failed(lowerToPrograms(compilation)))
      return std::nullopt;
    const Target &target = compilation.getTarget();
    for (auto program : compilation.module->getOps<exec::ProgramOp>()) {
      int64_t beside = sumOf(target.outsideLinesOf(program, compilation.spec.isDeterministic));
      stages.push_back({program, leastOf(program), beside});
    }
    llvm::sort(stages, [](const StagePlan &a, const StagePlan &b) { return a.sum() > b.sum(); });
    return total();
  }

  std::optional<Need> findNeed(int64_t limit) override {
    for (; placed < stages.size() && total().value_or(0) <= limit; ++placed) {
      StagePlan &stage = stages[placed];
      assignOffsets(stage.program, compilation.getTarget().arenaAlignment(),
                    /*enough=*/std::max<int64_t>(0, largestPlaced - stage.beside));
      stage.bytes = (int64_t)stage.program.getArena();
      largestPlaced = std::max(largestPlaced, stage.sum());
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
  static int64_t leastOf(exec::ProgramOp program) { return lowerBound(findLifetimes(program).buffers).clamp(); }

  /// Bytes of a rank whose arena is that large, with what its program has beside it; none where no plan can be about so much.
  std::optional<int64_t> totalOf(int64_t arena, int64_t beside = 0) const {
    if (arena > kLargestArena)
      return std::nullopt;
    const Spec &spec = compilation.spec;
    return arena + beside + sumOf(compilation.getTarget().outsideOf(spec.device, arena, spec.ranks()));
  }

  /// Of the fullest rank, as far as is known.
  std::optional<int64_t> total() const {
    const StagePlan *largest =
        llvm::max_element(stages, [](const StagePlan &a, const StagePlan &b) { return a.sum() < b.sum(); });
    return largest == stages.end() ? totalOf(0) : totalOf(largest->bytes, largest->beside);
  }

  /// Of a stage that is probably the fullest, lowered by itself: most plans that do not fit need no more. 0: it is the only
  /// one, or has no such plan.
  int64_t findLeastOfOneStage() {
    SmallVector<sched::TimelineOp> timelines(compilation.module->getOps<sched::TimelineOp>());
    if (timelines.size() <= 1)
      return 0;
    OwningOpRef<ModuleOp> whole = std::exchange(compilation.module, {});
    compilation.module = copyStage(*whole, timelines[size_t(fullest * double(timelines.size() - 1))]);
    bool isLowered = succeeded(lowerToPrograms(compilation));
    int64_t least = 0;
    if (isLowered)
      for (auto program : compilation.module->getOps<exec::ProgramOp>())
        least = totalOf(leastOf(program)).value_or(0);
    compilation.module = std::move(whole);
    return least;
  }

  /// Takes what is said of this trial: other threads have trials of their own in the same context.
  struct Listener : ScopedDiagnosticHandler {
    explicit Listener(PlanTrial &trial) : ScopedDiagnosticHandler(&trial.compilation.context) {
      setHandler([&trial, owner = std::this_thread::get_id()](Diagnostic &diagnostic) {
        if (std::this_thread::get_id() != owner)
          return failure();
        trial.diagnostics.report(toMessage(diagnostic, trial.compilation.modelPath));
        return success();
      });
    }
  };

  std::vector<Message> messages;
  Diagnostics diagnostics{messages};
  Compilation compilation;
  const double fullest;
  std::optional<int64_t> ofOneStage; ///< see findLeastOfOneStage
  SmallVector<StagePlan> stages;     ///< the largest bound first; empty: not lowered
  size_t placed = 0;                 ///< how many of them are
  int64_t largestPlaced = 0;         ///< sum: another stage that takes no more does not matter
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
    starts.push_back({&from.spec, kUnpartitionedPhase, *from.unpartitioned});
  for (const Compilation::Kept &kept : from.kept)
    starts.push_back({&from.spec, kept.phase, kept.module.get()});
  llvm::sort(starts, [](const Start &a, const Start &b) { return numberOf(a.phase) < numberOf(b.phase); });
  if (from.phase == "DataParallel")
    starts.push_back({&from.spec, kLastKeptPhase, from.module.get()});
}

Planners Forks::getPlanners(const Compilation &from, unsigned count) {
  auto make = [&from]() -> Planner {
    auto forks = std::make_shared<Forks>(from);
    return [forks](const Spec &spec, std::string &obstacle) { return forks->plan(spec, obstacle); };
  };
  return {make, count};
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
  auto trial = std::make_unique<PlanTrial>(from, spec, findFullest(from));
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
