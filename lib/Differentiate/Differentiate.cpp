// Reverse mode on the global graph, before anything is partitioned: walk the forward ops backwards, apply the rule of
// the gradient table to each, and add up the cotangents of a value when the walk reaches it.
//
// Three properties prepare the result for the later phases:
//   - Pieces. The cotangent of a fused query-key-value projection arrives as three slices that tile it;
//     they become one concat, which Memory places without a copy, not a sum of three padded tensors.
//   - Contributions stay separate by unit. A tied weight is used by two units; each returns its own contribution,
//     which is written or added into the gradient where it is computed.
//   - Roles. Backward ops that another unit's backward depends on have the role I, all other backward ops W. The role
//     is found by reachability, not by the rules.
#include "xlc/Differentiate/Differentiate.h"
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Differentiate/Gradients.h"

namespace xlc {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "xlc/Differentiate/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

bool isFloat(Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); }

/// The backward half of one function under construction.
class Backward {
public:
  Backward(func::FuncOp function, OpBuilder &builder) : function(function), builder(builder) {}

  /// Values that depend on a trainable parameter; only their cotangents are computed.
  void findActive();
  void seed(Value loss, int64_t nominalCount);
  LogicalResult run();
  /// Contributions to argument `index`, one for each unit that uses it, in the order in which they arise.
  SmallVector<Value> finish(unsigned index);

  bool isActive(Value value) const { return active.contains(value); }
  void contribute(Value value, Contribution contribution) { pending[value].push_back(std::move(contribution)); }

private:
  /// Asks the rule of `op`, where a cotangent of its results has arrived.
  LogicalResult visit(Operation *op);
  /// The same for an op without a rule: through the small ops that it stands for, which backward computes again.
  LogicalResult visitFormula(Operation *op, ArrayRef<Value> cotangents);
  void activate(Operation *op);
  Value addUp(Value whole, ArrayRef<Contribution> parts);
  Value tile(RankedTensorType type, ArrayRef<Contribution> parts);
  Value place(RankedTensorType type, const Contribution &part);
  template <typename Op, typename... Args> Value create(Location loc, ModelUnitAttr unit, Args &&...args) {
    Op op = Op::create(builder, loc, std::forward<Args>(args)...);
    if (unit)
      op->setAttr(kUnit, unit);
    return op;
  }

  func::FuncOp function;
  OpBuilder &builder;
  DenseSet<Value> active;
  DenseMap<Value, SmallVector<Contribution>> pending;
};

/// What a rule sees of it.
class RuleBuilder : public GradientBuilder {
public:
  RuleBuilder(Backward &backward, OpBuilder &builder, Operation *op)
      : GradientBuilder(builder, op), backward(backward) {}
  bool isNeeded(unsigned index) const override { return backward.isActive(op->getOperand(index)); }
  void contribute(unsigned index, Value cotangent, ArrayRef<int64_t> offsets) override {
    if (isNeeded(index))
      backward.contribute(op->getOperand(index), {cotangent, SmallVector<int64_t>(offsets), getUnit(op)});
  }

private:
  Backward &backward;
};

void Backward::findActive() {
  for (BlockArgument argument : function.getArguments())
    if (Argument(argument).isTrained())
      active.insert(argument);
  for (Operation &op : function.front())
    activate(&op);
}

void Backward::activate(Operation *op) {
  const GradientRow *row = findGradient(op->getName().getStringRef());
  if (row && !row->rule)
    return;
  if (llvm::any_of(op->getOperands(), [&](Value operand) { return active.contains(operand); }))
    for (Value result : op->getResults())
      if (isFloat(result))
        active.insert(result);
}

void Backward::seed(Value loss, int64_t nominalCount) {
  auto type = cast<RankedTensorType>(loss.getType());
  Operation *producer = loss.getDefiningOp();
  ModelUnitAttr unit = producer ? getUnit(producer) : ModelUnitAttr();
  auto one = DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), 1.0));
  Value constant = create<ConstantOp>(loss.getLoc(), unit, type, one);
  Value first = create<ScaleOp>(loss.getLoc(), unit, type, constant, int64_t(1), nominalCount);
  first.getDefiningOp()->setAttr(kSeed, builder.getUnitAttr());
  contribute(loss, {first, {}, unit});
}

/// Pieces that lie one after the other along one dimension and fill the whole become a concat; null where they do not.
Value Backward::tile(RankedTensorType type, ArrayRef<Contribution> parts) {
  if (parts.size() < 2 || llvm::any_of(parts, [](const Contribution &part) { return part.offsets.empty(); }))
    return {};
  SmallVector<Contribution> sorted(parts);
  llvm::sort(sorted, [](const Contribution &a, const Contribution &b) { return a.offsets < b.offsets; });
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    int64_t end = 0;
    bool isTiling = true;
    for (const Contribution &part : sorted) {
      auto piece = cast<RankedTensorType>(part.value.getType());
      for (int64_t i = 0; i < type.getRank(); ++i)
        isTiling &= i == dimension ? part.offsets[i] == end : piece.getDimSize(i) == type.getDimSize(i);
      end += piece.getDimSize(dimension);
    }
    if (!isTiling || end != type.getDimSize(dimension))
      continue;
    SmallVector<Value> pieces = llvm::map_to_vector(sorted, [](const Contribution &part) { return part.value; });
    return create<ConcatOp>(pieces.front().getLoc(), sorted.front().unit, type, pieces, dimension);
  }
  return {};
}

/// A piece amid zeros, or the whole itself.
Value Backward::place(RankedTensorType type, const Contribution &part) {
  if (part.offsets.empty() || part.value.getType() == type)
    return part.value;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Location loc = part.value.getLoc();
  Value zero = create<ConstantOp>(loc, part.unit, scalar,
                                  DenseElementsAttr::get(scalar, builder.getFloatAttr(type.getElementType(), 0.0)));
  SmallVector<int64_t> high;
  for (auto [i, size] : llvm::enumerate(cast<RankedTensorType>(part.value.getType()).getShape()))
    high.push_back(type.getDimSize(i) - size - part.offsets[i]);
  return create<PadOp>(loc, part.unit, type, part.value, zero, part.offsets, high);
}

Value Backward::addUp(Value whole, ArrayRef<Contribution> parts) {
  auto type = cast<RankedTensorType>(whole.getType());
  if (Value tiled = tile(type, parts))
    return tiled;
  Value sum;
  for (const Contribution &part : parts) {
    Value placed = place(type, part);
    sum = sum ? create<AddOp>(placed.getLoc(), part.unit, type, sum, placed) : placed;
  }
  return sum;
}

LogicalResult Backward::run() {
  SmallVector<Operation *> forward;
  for (Operation &op : function.front())
    if (isa_and_nonnull<GraphDialect>(op.getDialect()))
      forward.push_back(&op);
  // What seed created stands at the end and depends on nothing active, so it falls through below.
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult Backward::visit(Operation *op) {
  if (llvm::none_of(op->getResults(), [&](Value result) { return pending.contains(result); }))
    return success();
  SmallVector<Value> cotangents;
  for (Value result : op->getResults())
    cotangents.push_back(pending.contains(result) ? addUp(result, pending[result]) : Value());
  const GradientRow *row = findGradient(op->getName().getStringRef());
  if (!row && hasFormula(op->getName().getStringRef()))
    return visitFormula(op, cotangents);
  if (!row)
    return op->emitError() << "'" << op->getName() << "' has no row in the gradient table";
  RuleBuilder rule(*this, builder, op);
  return row->rule ? row->rule(rule, op, cotangents) : success();
}

LogicalResult Backward::visitFormula(Operation *op, ArrayRef<Value> cotangents) {
  Operation *copy = builder.clone(*op), *before = copy->getPrevNode();
  SmallVector<Value, 3> results = writeFormula(copy);
  SmallVector<Operation *> small;
  for (Operation *made = before->getNextNode(); made != copy; made = made->getNextNode()) {
    if (ModelUnitAttr unit = getUnit(op))
      made->setAttr(kUnit, unit);
    activate(made);
    small.push_back(made);
  }
  copy->erase();
  for (auto [result, cotangent] : llvm::zip(results, cotangents))
    if (cotangent)
      contribute(result, {cotangent, {}, getUnit(op)});
  for (Operation *made : llvm::reverse(small))
    if (failed(visit(made)))
      return failure();
  return success();
}

SmallVector<Value> Backward::finish(unsigned index) {
  BlockArgument argument = function.getArgument(index);
  SmallVector<std::pair<ModelUnitAttr, SmallVector<Contribution>>> byUnit;
  for (const Contribution &part : pending.lookup(argument)) {
    auto *it = llvm::find_if(byUnit, [&](auto &entry) { return entry.first == part.unit; });
    if (it == byUnit.end())
      it = &byUnit.emplace_back(part.unit, SmallVector<Contribution>());
    it->second.push_back(part);
  }
  return llvm::map_to_vector(byUnit, [&](auto &entry) { return addUp(argument, entry.second); });
}

/// An op is I where an op of another unit uses its result, directly or through ops of its own unit; else W. Without
/// `forward` all of them are of forward.
void assignRoles(func::FuncOp function, const DenseSet<Operation *> &forward) {
  MLIRContext *context = function.getContext();
  DenseSet<Operation *> awaited;
  for (Operation &op : llvm::reverse(function.front())) {
    if (!isa_and_nonnull<GraphDialect>(op.getDialect()))
      continue;
    Role role = Role::F;
    if (!forward.empty() && !forward.contains(&op)) {
      bool isAwaited = llvm::any_of(op.getUsers(), [&](Operation *user) {
        bool isGraph = isa_and_nonnull<GraphDialect>(user->getDialect());
        return isGraph && (getUnit(user) != getUnit(&op) || awaited.contains(user));
      });
      if (isAwaited)
        awaited.insert(&op);
      role = isAwaited ? Role::I : Role::W;
    }
    op.setAttr(kRole, RoleAttr::get(context, role));
  }
}

struct DifferentiatePass : xlc::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = findForward(module);
    auto nominal = module->getAttrOfType<IntegerAttr>(kNominalCount);
    if (!function || !nominal) {
      module.emitError() << "differentiation needs a function @forward and the module attribute " << kNominalCount;
      return signalPassFailure();
    }
    DenseSet<Operation *> forward;
    for (Operation &op : function.front())
      forward.insert(&op);
    auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
    OpBuilder builder(terminator);
    Backward backward(function, builder);
    backward.findActive();
    Value loss = Entry::ofForward(function).getLoss().get();
    if (backward.isActive(loss))
      backward.seed(loss, nominal.getInt());
    if (failed(backward.run()))
      return signalPassFailure();
    returnContributions(function, terminator, backward);
    eraseStops(function);
    assignRoles(function, forward);
    function.setName(kMicroBatch);
    Entry::make(function, Purpose::train);
    if (func::FuncOp evaluation = Entry::find(module, Purpose::evaluate).getFunction())
      eraseStops(evaluation), assignRoles(evaluation, {});
  }

  /// They have done what they are for.
  static void eraseStops(func::FuncOp function) {
    for (StopGradientOp stop : llvm::make_early_inc_range(function.front().getOps<StopGradientOp>())) {
      stop.replaceAllUsesWith(stop.getX());
      stop.erase();
    }
  }

  static void returnContributions(func::FuncOp function, func::ReturnOp terminator, Backward &backward) {
    SmallVector<Value> results(terminator.getOperands());
    SmallVector<std::pair<unsigned, Attribute>> names;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (Value contribution : backward.finish(i)) {
        names.emplace_back(results.size(), Argument(function, i).getParameter());
        results.push_back(contribution);
      }
    terminator->setOperands(results);
    function.setType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), ValueRange(results).getTypes()));
    SignatureAttributes attributes(function);
    for (auto [index, name] : names)
      attributes.setResult(index, kGrad, name);
  }
};

} // namespace
