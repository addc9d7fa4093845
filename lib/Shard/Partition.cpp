// From the global @micro_batch to that of one rank: every op is written with its local shapes, and what brings its
// operands to the layouts that it needs before it.
//
// A piece of a value that is whole on every rank and only moves elements (a broadcast bias, a constant) is made as a
// piece from the start, instead of made whole and cut; what nobody needs any more goes.
#include "Emit.h"
#include "RankStates.h"
#include "Search.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

class Partitioner {
public:
  Partitioner(const Problem &problem, const Propagation &propagation)
      : problem(problem), propagation(propagation), function(problem.function), builder(function) {}

  void run() {
    Block *global = &function.front(), *local = new Block();
    for (BlockArgument argument : global->getArguments()) {
      Layout layout = problem.parameters.lookup(argument);
      known[argument].push_back(
          {layout, {}, local->addArgument(localType(argument.getType(), layout), argument.getLoc())});
      if (layout.isSplit())
        function.setArgAttr(argument.getArgNumber(), dist::kLayout, layoutAttr(argument, layout));
    }
    builder.setInsertionPointToEnd(local);
    for (Operation &op : global->without_terminator())
      write(&op);
    SmallVector<Value> returned = finish(global->getTerminator());
    func::ReturnOp::create(builder, global->getTerminator()->getLoc(), returned);
    function.getBody().push_back(local);
    global->dropAllReferences();
    global->erase();
    function.setFunctionType(builder.getFunctionType(local->getArgumentTypes(), ValueRange(returned).getTypes()));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*local)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  /// A local value: of which layout, and for which section only, if it was gathered for one.
  struct Version {
    Layout layout;
    Section section;
    Value value;
  };

  Attribute layoutAttr(Value value, const Layout &layout) {
    return dist::LayoutAttr::get(builder.getContext(), builder.getDenseI64ArrayAttr(typeOf(value).getShape()),
                                 layout.dim, layout.outer, ownersOf(layout));
  }
  dist::GroupAttr ownersOf(const Layout &layout) {
    return partsGroup(builder.getContext(), Layout(), layout, problem.tp);
  }

  Value find(Value value, const Layout &layout, Section section) {
    for (const Version &version : known[value])
      if (version.layout == layout && (!version.section.first || version.section == section))
        return version.value;
    return {};
  }

  /// The value in a layout, for `user`: as it is there, or brought to it from `from`.
  Value bring(Value value, const Layout &from, const Layout &to, Operation *user) {
    Section section = sectionOf(user);
    if (Value there = find(value, to, section))
      return there;
    if (from.isReplicated())
      if (Value piece = makePiece(value, to, user))
        return piece;
    Emitter emit(builder, user, problem.tp);
    Value local = find(value, from, section);
    auto path = findPath(typeOf(value).getShape(), from, to, problem.tp);
    for (const Step &step : *path)
      local = emit.reshard(local, typeOf(value), step);
    known[value].push_back({to, section, local});
    return local;
  }

  /// A piece of a moved value, moved from pieces of its operands.
  Value makePiece(Value value, const Layout &to, Operation *user) {
    Operation *op = value.getDefiningOp();
    if (!op || !isMovement(op) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return propagation.layoutOf(operand).isReplicated(); }))
      return {};
    std::optional<Spread> pieces = spread(op, {op->getNumOperands(), to, problem.tp});
    if (!pieces)
      return {};
    SmallVector<Value> operands;
    for (auto [operand, layout] : llvm::zip(op->getOperands(), pieces->operands))
      operands.push_back(bring(operand, Layout(), layout, user));
    Operation *piece = clone(op, operands, *pieces);
    piece->setAttr(kUnit, user->getAttr(kUnit));
    piece->setAttr(kRole, user->getAttr(kRole));
    known[value].push_back({to, sectionOf(user), piece->getResult(0)});
    return piece->getResult(0);
  }

  void write(Operation *op) {
    const Decision &decision = propagation.decisions.find(op)->second;
    SmallVector<Value> operands, results;
    for (auto [operand, from, to] : llvm::zip(op->getOperands(), decision.from, decision.operands))
      operands.push_back(bring(operand, from, to, op));
    if (!writeSplit(op, decision, operands, results))
      llvm::append_range(results, clone(op, operands, {decision.operands, decision.results})->getResults());
    for (auto [result, layout, local] : llvm::zip(op->getResults(), decision.results, results)) {
      known[result].push_back({layout, {}, local});
      if (auto settled = propagation.settled.find(result); settled != propagation.settled.end())
        settle(result, layout, settled->second, op);
    }
  }

  void settle(Value value, const Layout &from, const Layout &to, Operation *op) {
    Emitter emit(builder, op, problem.tp);
    Value local = known[value].back().value;
    auto path = findPath(typeOf(value).getShape(), from, to, problem.tp);
    for (const Step &step : *path)
      local = emit.reshard(local, typeOf(value), step);
    known[value].push_back({to, {}, local});
  }

  /// Ops that become several where a dimension is split that they index.
  bool writeSplit(Operation *op, const Decision &decision, ArrayRef<Value> operands, SmallVectorImpl<Value> &results) {
    Emitter emit(builder, op, problem.tp);
    if (auto lookup = dyn_cast<GatherOp>(op); lookup && isSplitAt(decision.operands[0], lookup.getDimension()))
      results.push_back(emitLookup(emit, lookup, operands[0], operands[1], decision.operands[0]));
    else if (auto scatter = dyn_cast<ScatterAddOp>(op);
             scatter && isSplitAt(decision.results[0], scatter.getDimension()))
      results.push_back(emitScatter(emit, scatter, operands[0], operands[1], decision.results[0]));
    else if (auto loss = dyn_cast<CrossEntropyOp>(op); loss && decision.operands[0].isSplit()) {
      SplitLoss &split = losses[loss.getLse()];
      split = emitCrossEntropy(emit, loss, operands[0], operands[1], decision.operands[0]);
      results.append({split.sum, split.count, split.lse});
    } else if (auto loss = dyn_cast<CrossEntropyBackwardOp>(op); loss && decision.operands[0].isSplit())
      results.push_back(emitCrossEntropyBackward(emit, loss, operands[0], operands[1], operands[3],
                                                 losses[loss.getLse()], decision.operands[0]));
    return !results.empty();
  }
  static bool isSplitAt(const Layout &layout, int64_t dim) { return layout.isSplit() && layout.dim == dim; }

  /// The op with local types, and with attributes that speak of local sizes.
  Operation *clone(Operation *op, ArrayRef<Value> operands, const Spread &layouts) {
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    Operation *local = builder.clone(*op, mapping);
    for (auto [result, global, layout] : llvm::zip(local->getResults(), op->getResults(), layouts.results))
      result.setType(localType(global.getType(), layout));
    if (auto slice = dyn_cast<SliceOp>(local); slice && layouts.results[0].isSplit()) {
      SmallVector<int64_t> offsets(slice.getOffsets());
      offsets[layouts.results[0].dim] /= layouts.results[0].parts;
      slice.setOffsets(offsets);
    }
    if (auto reshape = dyn_cast<ReshapeOp>(local); reshape && layouts.results[0].isSplit())
      nameCut(reshape, layouts.results[0]);
    if (auto constant = dyn_cast<ConstantOp>(local); constant && layouts.results[0].isSplit())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(typeOf(constant.getY())));
    if (auto iota = dyn_cast<IotaOp>(local); iota && isSplitAt(layouts.results[0], iota.getDimension()))
      return shift(iota, layouts.results[0]);
    return local;
  }

  /// For the gate, where the local shape alone would tell it another cut.
  static void nameCut(ReshapeOp reshape, const Layout &layout) {
    ArrayRef<int64_t> shape = reshape.getType().getShape();
    if (layoutAt(shape, aboveOf(shape, layout), layout) != layout)
      reshape->setAttr(kCut, DenseI64ArrayAttr::get(reshape.getContext(), {layout.dim, layout.outer}));
  }

  /// Counting goes on where the rank before ends; runs of a merged dimension count on from run to run.
  Operation *shift(IotaOp iota, const Layout &layout);

  SmallVector<Value> finish(Operation *terminator);

  const Problem &problem;
  const Propagation &propagation;
  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, SmallVector<Version, 2>> known;
  DenseMap<Value, SplitLoss> losses; ///< by the log-sum-exp of the global program
};

Operation *Partitioner::shift(IotaOp iota, const Layout &layout) {
  Emitter emit(builder, iota, problem.tp);
  RankedTensorType type = iota.getType();
  assert(layout.outer == 1 && "a rule of iota");
  Value first =
      emit.binary("graph.mul", emit.index(ownersOf(layout)),
                  emit.constant(RankedTensorType::get({}, builder.getI64Type()), type.getDimSize(layout.dim)));
  Value all = emit.broadcast(emit.cast(first, type.getElementType()), type.getShape());
  return emit.binary("graph.add", iota.getY(), all).getDefiningOp();
}

/// What is returned: gradients lie as their parameters do, or are declared partial; all else is whole. Contributions to
/// one gradient are all partial or none is.
SmallVector<Value> Partitioner::finish(Operation *terminator) {
  llvm::StringMap<bool> isSummed; // by parameter: some contribution is no partial sum
  auto parameterOf = [&](OpOperand &returned) {
    auto name = function.getResultAttrOfType<StringAttr>(returned.getOperandNumber(), kGrad);
    return name ? name.getValue() : StringRef();
  };
  llvm::StringMap<Layout> layouts;
  for (BlockArgument argument : terminator->getBlock()->getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kParam))
      layouts[name] = problem.parameters.lookup(argument);
  auto wantedFor = [&](OpOperand &returned) { return layouts.lookup(parameterOf(returned)); };
  for (OpOperand &returned : terminator->getOpOperands()) {
    Layout layout = propagation.layoutOf(returned.get()), wanted = wantedFor(returned);
    isSummed[parameterOf(returned)] |= !layout.isPartial || !wanted.isSameSplit(layout);
  }
  SmallVector<Value> values;
  for (OpOperand &returned : terminator->getOpOperands()) {
    Layout from = propagation.layoutOf(returned.get()), to;
    StringRef parameter = parameterOf(returned);
    if (!parameter.empty()) {
      to = wantedFor(returned);
      if (from.isPartial && !isSummed[parameter]) {
        to = to.unsummed();
        function.setResultAttr(returned.getOperandNumber(), dist::kPartial,
                               copiesGroup(builder.getContext(), to, problem.tp));
      }
    }
    Operation *op = returned.get().getDefiningOp();
    values.push_back(op ? bring(returned.get(), from, to, op) : find(returned.get(), to, {}));
  }
  return values;
}

} // namespace

void shard::writeLocal(const Problem &problem, const Propagation &propagation) {
  Partitioner(problem, propagation).run();
}
