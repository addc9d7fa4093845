// Rewrites the global @micro_batch to that of one rank: every op is written with its local shapes, after the
// conversions of its operands to the layouts that it needs.
//
// Some values are whole on every rank and only move elements (a broadcast bias, a constant), or are element-wise
// functions of positions, constants and inputs (a mask that is drawn). A piece of such a value is computed directly,
// instead of slicing the whole. Ops without users are erased.
#include "LocalOps.h"
#include "Search.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

/// Values that follow element by element from inputs, places and constants, in forward and backward: a piece of one
/// takes its share of the work. (Stage copies those of forward: lib/Stage/Copies.cpp.)
DenseSet<Value> findGivenValues(func::FuncOp function) {
  DenseSet<Value> given;
  for (BlockArgument argument : function.getArguments())
    if (Argument(argument).getInput())
      given.insert(argument);
  for (Operation &op : function.front())
    if ((op.getNumOperands() == 0 || isMovement(&op) || op.hasTrait<Elementwise>() || isa<ConcatOp>(op)) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return given.contains(operand); }))
      given.insert_range(op.getResults());
  return given;
}

class Partitioner {
public:
  Partitioner(const Problem &problem, const Propagation &propagation)
      : problem(problem), propagation(propagation), function(problem.function), builder(function),
        given(findGivenValues(function)), localOps(builder, problem.tp), attributes(*local.function) {}

  LocalProgram run() {
    Block *global = &function.front();
    body = &local.function->getBody().emplaceBlock();
    for (BlockArgument argument : global->getArguments()) {
      Layout layout = problem.parameters.lookup(argument);
      known[argument].push_back(
          {layout, {}, body->addArgument(localType(argument.getType(), layout), argument.getLoc())});
      if (layout.isSplit())
        attributes.setArgument(argument.getArgNumber(), dist::kLayout, layoutAttr(argument, layout));
    }
    builder.setInsertionPointToEnd(body);
    for (Operation &op : global->without_terminator()) {
      write(&op);
      noteOrigin(&op);
    }
    SmallVector<Value> returned = finish(global->getTerminator());
    func::ReturnOp::create(builder, global->getTerminator()->getLoc(), returned);
    local.function->setFunctionType(builder.getFunctionType(body->getArgumentTypes(), ValueRange(returned).getTypes()));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      if (isOpTriviallyDead(&op)) {
        local.origins.erase(&op);
        op.erase();
      }
    return std::move(local);
  }

private:
  /// A local value: of which layout, and for which section only, if it was gathered for one.
  struct Version {
    Layout layout;
    Section section;
    Value value;
  };

  /// What was written since the last time stands for this op.
  void noteOrigin(Operation *global) {
    for (Operation &op : llvm::reverse(*body))
      if (!local.origins.try_emplace(&op, global).second)
        break;
  }

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

  /// What was brought somewhere for a weight gradient, and then serves an input gradient too, is not put off with the
  /// former.
  void keepFromDelay(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || getRole(op) != Role::W)
      return;
    op->setAttr(kRole, RoleAttr::get(op->getContext(), Role::I));
    llvm::for_each(op->getOperands(), [&](Value operand) { keepFromDelay(operand); });
  }

  /// The value in a layout, for `user`: as it is there, or brought to it from `from`.
  Value bring(Value value, const Layout &from, const Layout &to, Operation *user) {
    Section section = sectionOf(user);
    if (Value there = find(value, to, section)) {
      if (getRole(user) == Role::I)
        keepFromDelay(there);
      return there;
    }
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

  /// A piece of a value that is moved or given, from pieces of its operands.
  Value makePiece(Value value, const Layout &to, Operation *user) {
    Operation *op = value.getDefiningOp();
    if (!op || !(isMovement(op) || given.contains(value)) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return propagation.layoutOf(operand).isReplicated(); }))
      return {};
    std::optional<Spread> pieces = spread(op, {op->getNumOperands(), to, problem.tp});
    if (!pieces)
      return {};
    SmallVector<Value> operands;
    for (auto [operand, layout] : llvm::zip(op->getOperands(), pieces->operands))
      operands.push_back(bring(operand, Layout(), layout, user));
    Value piece = localOps.write(op, operands, *pieces, user).front();
    known[value].push_back({to, sectionOf(user), piece});
    return piece;
  }

  void write(Operation *op) {
    const Decision &decision = propagation.decisions.find(op)->second;
    SmallVector<Value> operands;
    for (auto [operand, from, to] : llvm::zip(op->getOperands(), decision.from, decision.operands))
      operands.push_back(bring(operand, from, to, op));
    SmallVector<Value> results = localOps.write(op, operands, {decision.operands, decision.results}, op);
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

  SmallVector<Value> finish(Operation *terminator);

  const Problem &problem;
  const Propagation &propagation;
  func::FuncOp function;
  LocalProgram local{func::FuncOp(function).cloneWithoutRegions(), llvm::DenseMap<Operation *, Operation *>()};
  Block *body = nullptr;
  OpBuilder builder;
  const DenseSet<Value> given;
  DenseMap<Value, SmallVector<Version, 2>> known;
  LocalOps localOps;
  graph::SignatureAttributes attributes;
};

/// What is returned: gradients lie as their parameters do, or are declared partial; all else is whole. Contributions to
/// one gradient are all partial or none is.
SmallVector<Value> Partitioner::finish(Operation *terminator) {
  llvm::StringMap<bool> isSummed; // by parameter: some contribution is no partial sum
  auto parameterOf = [&](OpOperand &returned) {
    auto name = Result(function, returned.getOperandNumber()).getGradient();
    return name ? name.getValue() : StringRef();
  };
  llvm::StringMap<Layout> layouts;
  for (BlockArgument argument : terminator->getBlock()->getArguments())
    if (auto name = Argument(argument).getParameter())
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
        attributes.setResult(returned.getOperandNumber(), dist::kPartial,
                             copiesGroup(builder.getContext(), to, problem.tp));
      }
    }
    Operation *op = returned.get().getDefiningOp();
    values.push_back(op ? bring(returned.get(), from, to, op) : find(returned.get(), to, {}));
    noteOrigin(op);
  }
  return values;
}

} // namespace

LocalProgram shard::writeLocal(const Problem &problem, const Propagation &propagation) {
  return Partitioner(problem, propagation).run();
}
