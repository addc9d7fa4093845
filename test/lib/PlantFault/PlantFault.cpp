// Faults that a wrong compiler would make, one edit each. A checker is believed because it finds these in a
// program that it accepts without them; it knows nothing of this pass.
//
// A fault edits the timeline (`sched`) or the program (`exec`) of the module, whichever it finds; where there is
// nothing to damage it is an error, so that a test cannot pass by accident.
#include "PlantFault/PlantFault.h"
#include "PlantFault/Faults.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"

using namespace mlir;
using namespace xlc;
using xlc::test::actionsOf;
using xlc::test::Fault;

SmallVector<Operation *> xlc::test::actionsOf(ModuleOp module) {
  SmallVector<Operation *> actions;
  for (Operation &op : *module.getBody())
    if (isa<sched::TimelineOp, exec::ProgramOp>(op))
      for (Operation &action : op.getRegion(0).front())
        actions.push_back(&action);
  return actions;
}

namespace {

bool isReduction(Operation *op) {
  if (auto exchange = dyn_cast<exec::ExchangeOp>(op))
    return exchange.getLabel().contains("bucket") && exchange.getKind() != dist::CollectiveKind::all_gather;
  auto collective = dyn_cast<sched::CollectiveOp>(op);
  return collective && collective.getKind() != dist::CollectiveKind::all_gather;
}

template <typename Predicate> Operation *findFirst(ArrayRef<Operation *> actions, Predicate predicate) {
  auto *it = llvm::find_if(actions, predicate);
  return it == actions.end() ? nullptr : *it;
}

bool dropReduction(ModuleOp module) {
  Operation *reduction = findFirst(actionsOf(module), isReduction);
  if (reduction)
    reduction->erase();
  return reduction;
}

bool reduceTwice(ModuleOp module) {
  Operation *reduction = findFirst(actionsOf(module), isReduction);
  if (reduction)
    OpBuilder(reduction).clone(*reduction);
  return reduction;
}

/// The seed of backward, 1 / nominal count, becomes dp times that: each rank divides by its own count only.
bool scaleGradient(ModuleOp module) {
  auto timelines = module.getOps<sched::TimelineOp>();
  graph::ScaleOp seed;
  module.walk([&](graph::ScaleOp scale) {
    auto constant = scale.getX().getDefiningOp<graph::ConstantOp>();
    if (!seed && constant && scale.getType().getRank() == 0)
      seed = scale;
  });
  if (timelines.empty() || !seed)
    return false;
  seed.setNumerator(seed.getNumerator() * (*timelines.begin()).getMesh().getDp());
  return true;
}

/// A run reads the parameters of a bucket one element too far.
bool shiftBucket(ModuleOp module) {
  for (Operation *action : actionsOf(module)) {
    auto run = dyn_cast<exec::RunOp>(action);
    if (!run || run.getLabel().starts_with("update"))
      continue;
    SmallVector<Attribute> places(run.getPlaces().getValue());
    for (Attribute &attribute : places) {
      auto place = cast<exec::PlaceAttr>(attribute);
      auto buffer = cast<exec::BufferOp>(actionsOf(module)[place.getBuffer()]);
      if (buffer.getCause() != exec::Cause::parameters)
        continue;
      attribute =
          exec::PlaceAttr::get(module.getContext(), place.getBuffer(), place.getOffset() + 4, place.getStride());
      run.setPlacesAttr(ArrayAttr::get(module.getContext(), places));
      return true;
    }
  }
  return false;
}

bool releaseEarly(ModuleOp module) {
  for (Operation *action : actionsOf(module))
    if (isa<sched::ReleaseOp>(action))
      for (Operation *before = action->getPrevNode(); before; before = before->getPrevNode())
        if (isa<sched::RunOp>(before)) {
          action->moveBefore(before);
          return true;
        }
  return false;
}

/// The first gather fetches the bucket that the next different gather should.
bool gatherWrongUnit(ModuleOp module) {
  sched::CollectiveOp first;
  for (Operation *action : actionsOf(module))
    if (auto gather = sched::asCollective(action, dist::CollectiveKind::all_gather)) {
      if (first && first.getBucket() != gather.getBucket()) {
        first.setBucketAttr(gather.getBucketAttr());
        return true;
      }
      first = first ? first : gather;
    }
  return false;
}

/// What the first micro-batch contributed to a gradient is overwritten by the second.
bool overwriteAccumulation(ModuleOp module) {
  for (Operation *action : actionsOf(module)) {
    auto run = dyn_cast<sched::RunOp>(action);
    if (!run || run.getMicroBatch() != 1)
      continue;
    SmallVector<bool> accumulate(run.getAccumulate());
    for (auto [store, adds] : llvm::zip(run.getStores(), accumulate))
      if (adds && !cast<StringAttr>(store).getValue().starts_with("@")) {
        adds = false;
        run.setAccumulate(accumulate);
        return true;
      }
  }
  return false;
}

bool keepCountLocal(ModuleOp module) {
  for (Operation *action : actionsOf(module)) {
    auto reduce = dyn_cast<sched::AllReduceScalarsOp>(action);
    if (!reduce)
      continue;
    SmallVector<Attribute> kept;
    for (Attribute scalar : reduce.getScalars())
      if (cast<StringAttr>(scalar).getValue() != sched::kLossCount)
        kept.push_back(scalar);
    reduce.setScalarsAttr(ArrayAttr::get(module.getContext(), kept));
    return true;
  }
  return false;
}

/// The first two optimizer groups change places in the first bucket that has one: decay where there should be none, or
/// the reverse.
bool swapDecayGroup(ModuleOp module) {
  for (auto bucket : module.getOps<sched::BucketOp>())
    if (auto group = (int64_t)bucket.getGroup(); group == 0 || group == 1) {
      bucket.setGroup(1 - group);
      return true;
    }
  return false;
}

/// The bucket that is reduced last is updated before that.
bool updateBeforeReduce(ModuleOp module) {
  SmallVector<Operation *> actions = actionsOf(module);
  Operation *last = findFirst(llvm::to_vector(llvm::reverse(actions)), isReduction);
  for (Operation *action : actions)
    if (isa<sched::UpdateOp>(action) && last && action->getAttr("bucket") == last->getAttr("bucket")) {
      action->moveBefore(last);
      return true;
    }
  return false;
}

/// A buffer is placed on another that was written before and is read after it begins to live.
bool overlapBuffers(ModuleOp module) {
  SmallVector<exec::BufferOp> buffers;
  for (Operation *action : actionsOf(module))
    if (auto buffer = dyn_cast<exec::BufferOp>(action); buffer && !buffer.getPersistent() && buffer.getSize() > 0)
      buffers.push_back(buffer);
  for (exec::BufferOp under : buffers)
    for (exec::BufferOp over : buffers)
      if (under.getFirst() < over.getFirst() && over.getFirst() < under.getLast() &&
          under.getOffset() != over.getOffset()) {
        over.setOffset(under.getOffset());
        return true;
      }
  return false;
}

constexpr Fault faults[] = {
    {"drop-reduction", dropReduction},
    {"gather-wrong-unit", gatherWrongUnit},
    {"keep-count-local", keepCountLocal},
    {"overlap-buffers", overlapBuffers},
    {"overwrite-accumulation", overwriteAccumulation},
    {"reduce-twice", reduceTwice},
    {"release-early", releaseEarly},
    {"scale-gradient", scaleGradient},
    {"shift-bucket", shiftBucket},
    {"swap-decay-group", swapDecayGroup},
    {"update-before-reduce", updateBeforeReduce},
};

struct PlantFaultPass : PassWrapper<PlantFaultPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlantFaultPass)
  PlantFaultPass() = default;
  PlantFaultPass(const PlantFaultPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "xlc-test-plant-fault"; }
  StringRef getDescription() const override {
    return "damages the timeline or program, for tests of those who check it";
  }

  void runOnOperation() override {
    for (const Fault &fault : llvm::concat<const Fault>(ArrayRef(faults), test::composedFaults()))
      if (fault.kind == kind && fault.plant(getOperation()))
        return;
    getOperation().emitError() << "cannot plant the fault '" << kind << "' here";
    signalPassFailure();
  }

  Option<std::string> kind{*this, "kind", llvm::cl::desc("which fault")};
};

} // namespace

void xlc::test::registerPlantFaultPass() { PassRegistration<PlantFaultPass>(); }
