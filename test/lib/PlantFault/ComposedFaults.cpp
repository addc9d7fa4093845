// Faults of tensor and pipeline parallelism, several of which other systems have shipped: a sum that one axis forgets,
// a term that every rank adds, a message that goes astray.
#include "PlantFault/Faults.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"

using namespace mlir;
using namespace xlc;

namespace {

/// The first op of a kind, in the whole module, for which a predicate holds.
template <typename Op> Op findOp(ModuleOp module, llvm::function_ref<bool(Op)> predicate) {
  Op found;
  module.walk([&](Op op) {
    if (!found && predicate(op))
      found = op;
  });
  return found;
}

bool erase(Operation *op) {
  if (op)
    op->erase();
  return op;
}

/// Gradients of norms under sequence parallelism, or of replicated key-value heads, stay partial sums.
bool dropTensorReduction(ModuleOp module) {
  return erase(findOp<sched::CollectiveOp>(
      module, [](auto reduce) { return reduce.getGroupAttr() && reduce.getGroupAttr().getAxis() == dist::Axis::tp; }));
}

/// What each stage contributes to a tied parameter never reaches the other.
bool dropTiedGradient(ModuleOp module) {
  SmallVector<sched::CollectiveOp> reductions;
  module.walk([&](sched::CollectiveOp reduce) {
    if (reduce.getGroupAttr() && reduce.getGroupAttr().getStages().size() > 1)
      reductions.push_back(reduce);
  });
  llvm::for_each(reductions, erase);
  return !reductions.empty();
}

/// Each stage that holds a tied parameter counts all of it.
bool countTiedTwice(ModuleOp module) {
  llvm::DenseMap<Attribute, int64_t> stages;
  for (auto bucket : module.getOps<sched::BucketOp>())
    if (std::optional<ArrayRef<int64_t>> held = bucket.getStages())
      stages[bucket.getSymNameAttr()] = held->size();
  bool found = false;
  module.walk([&](sched::NormOp norm) {
    int64_t count = stages.lookup(norm.getBucketAttr().getAttr());
    if (count < 2)
      return;
    norm.setCopies(norm.getCopies() / count);
    found = true;
  });
  return found;
}

/// The value that comes out of a reduction over tp, through a bias where there is one.
dist::AllReduceOp reductionUnder(Value value) {
  if (auto add = value.getDefiningOp<graph::AddOp>(); add && add.getB().getDefiningOp<graph::BroadcastOp>())
    value = add.getA();
  return value.getDefiningOp<dist::AllReduceOp>();
}

/// Moves what defines a value up to an op of its block.
void moveBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->isBeforeInBlock(op))
    return;
  for (Value operand : definition->getOperands())
    moveBefore(operand, op);
  definition->moveBefore(op);
}

/// A sum of a reduced product and another term: the term is added on every rank, before the reduction.
bool addBeforeReduction(ModuleOp module, bool isBias) {
  auto add = findOp<graph::AddOp>(module, [&](auto add) {
    bool addsBias = add.getB().template getDefiningOp<graph::BroadcastOp>() != nullptr;
    return reductionUnder(add.getA()) && addsBias == isBias && reductionUnder(add.getA()) != add.getB().getDefiningOp();
  });
  if (!add)
    return false;
  dist::AllReduceOp reduction = reductionUnder(add.getA());
  moveBefore(add.getB(), reduction);
  OpBuilder builder(reduction);
  Operation *early = builder.clone(*add);
  early->setOperands({reduction.getX(), add.getB()});
  add.getY().replaceAllUsesWith(add.getA());
  reduction.getXMutable().assign(early->getResult(0));
  return erase(add);
}
bool addBiasEverywhere(ModuleOp module) { return addBeforeReduction(module, /*isBias=*/true); }
bool addResidualEverywhere(ModuleOp module) { return addBeforeReduction(module, /*isBias=*/false); }

/// Each tensor-parallel rank takes the nominal count for its own.
bool scaleGradientByTp(ModuleOp module) {
  auto timeline = findOp<sched::TimelineOp>(module, [](auto) { return true; });
  auto seed = findOp<graph::ScaleOp>(module, [](auto scale) {
    return scale.getX().template getDefiningOp<graph::ConstantOp>() && scale.getType().getRank() == 0;
  });
  if (!timeline || !seed || timeline.getMesh().getTp() == 1)
    return false;
  seed.setNumerator(seed.getNumerator() * timeline.getMesh().getTp());
  return true;
}

/// A select of a split vocabulary: between a value and a constant that stands for what is not here.
bool choosesConstant(graph::SelectOp select, llvm::function_ref<bool(const APFloat &)> isWanted) {
  Value other = select.getB();
  if (auto broadcast = other.getDefiningOp<graph::BroadcastOp>())
    other = broadcast.getX();
  auto constant = other.getDefiningOp<graph::ConstantOp>();
  auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return value && isa<FloatType>(value.getElementType()) && isWanted(value.getSplatValue<APFloat>());
}

/// Columns behind the end of an uneven vocabulary take part in the softmax: neither their logits nor their exponentials
/// are masked.
bool forgetTailMask(ModuleOp module) {
  llvm::DenseSet<Value> tails;
  module.walk([&](graph::SelectOp select) {
    if (choosesConstant(select, [](const APFloat &value) { return value.isInfinity() && value.isNegative(); }))
      tails.insert(select.getCondition());
  });
  module.walk([&](graph::SelectOp select) {
    if (tails.contains(select.getCondition()))
      select.getY().replaceAllUsesWith(select.getA());
  });
  return !tails.empty();
}

/// The logit of a label is taken from every shard but the one that has it.
bool pickFromWrongShard(ModuleOp module) {
  dist::AllReduceOp predicted = findOp<dist::AllReduceOp>(module, [](auto reduce) {
    Value value = reduce.getX();
    if (auto cast = value.getDefiningOp<graph::CastOp>())
      value = cast.getX();
    auto select = value.getDefiningOp<graph::SelectOp>();
    return select && reduce.getType().getElementType().isF64() &&
           choosesConstant(select, [](const APFloat &constant) { return constant.isZero(); });
  });
  if (!predicted)
    return false;
  auto select = predicted.getX().getDefiningOp<graph::CastOp>().getX().getDefiningOp<graph::SelectOp>();
  Value here = select.getA();
  select.getAMutable().assign(select.getB());
  select.getBMutable().assign(here);
  return true;
}

/// The sends of a stage that carry one type to one peer, in order.
SmallVector<sched::SendOp> similarSends(ModuleOp module) {
  for (auto timeline : module.getOps<sched::TimelineOp>()) {
    llvm::MapVector<std::pair<Type, int64_t>, SmallVector<sched::SendOp>> byPeer;
    for (auto send : timeline.getBody().getOps<sched::SendOp>())
      byPeer[{send.getValue().getType(), (int64_t)send.getPeer()}].push_back(send);
    for (auto &[key, sends] : byPeer)
      if (sends.size() > 1)
        return sends;
  }
  return {};
}

/// The sender takes two messages for each other; the receiver does not.
bool swapMessages(ModuleOp module) {
  SmallVector<sched::SendOp> sends = similarSends(module);
  if (sends.empty())
    return false;
  int64_t first = sends[0].getMessage();
  sends[0].setMessage(sends[1].getMessage());
  sends[1].setMessage(first);
  return true;
}

/// What was sent for the first micro-batch is sent again for the second.
bool sendWrongMicroBatch(ModuleOp module) {
  SmallVector<sched::SendOp> sends = similarSends(module);
  if (sends.empty())
    return false;
  sends[1].getValueMutable().assign(sends[0].getValue());
  return true;
}

/// The weight gradients of one unit and micro-batch are never computed.
bool dropWeightGradient(ModuleOp module) {
  return erase(findOp<sched::RunOp>(module, [](auto run) {
    return run.getFunction().contains("_W") && run->use_empty() && run.getMicroBatch() == 1;
  }));
}

/// A bucket that was released after one micro-batch is read in the next without being gathered.
bool dropGatherBetween(ModuleOp module) {
  llvm::DenseSet<Attribute> released;
  for (Operation *action : test::actionsOf(module)) {
    if (auto release = dyn_cast<sched::ReleaseOp>(action))
      released.insert(release.getBucketAttr());
    if (auto gather = sched::asCollective(action, dist::CollectiveKind::all_gather);
        gather && released.contains(gather.getBucketAttr()))
      return erase(gather);
  }
  return false;
}

/// The residual of one micro-batch lies where that of an earlier one is still needed.
bool reuseResidualEarly(ModuleOp module) {
  llvm::StringMap<exec::BufferOp> earlier;
  for (Operation *action : test::actionsOf(module)) {
    auto buffer = dyn_cast<exec::BufferOp>(action);
    if (!buffer || buffer.getCause() != exec::Cause::residuals)
      continue;
    auto [it, isNew] = earlier.try_emplace(buffer.getName(), buffer);
    if (isNew || it->second->getParentOp() != buffer->getParentOp() || it->second.getLast() <= buffer.getFirst())
      continue;
    buffer.setOffset(it->second.getOffset());
    return true;
  }
  return false;
}

constexpr test::Fault faults[] = {
    {"add-bias-everywhere", addBiasEverywhere},
    {"add-residual-everywhere", addResidualEverywhere},
    {"count-tied-twice", countTiedTwice},
    {"drop-gather-between", dropGatherBetween},
    {"drop-tensor-reduction", dropTensorReduction},
    {"drop-tied-gradient", dropTiedGradient},
    {"drop-weight-gradient", dropWeightGradient},
    {"forget-tail-mask", forgetTailMask},
    {"pick-from-wrong-shard", pickFromWrongShard},
    {"reuse-residual-early", reuseResidualEarly},
    {"scale-gradient-by-tp", scaleGradientByTp},
    {"send-wrong-micro-batch", sendWrongMicroBatch},
    {"swap-messages", swapMessages},
};

} // namespace

ArrayRef<test::Fault> xlc::test::composedFaults() { return faults; }
