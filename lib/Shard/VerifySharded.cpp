// The gate of Shard: tells from one rank's program alone what every value is on the ranks, and refuses what sums or
// mixes what it must not.
//
// A value is the same on all ranks, a piece of a tensor, terms of a sum (partial), a rank's own maximum, or an index
// that differs by rank. Partial values may be added to partial values and go through linear ops; anything else is the
// bug that other systems shipped: a norm's gradient never reduced, a bias added on every rank, a residual counted
// twice. Where a piece is cut is a dimension and its number of runs; through reshapes it is followed by how many
// elements stand above the cut in the flat local tensor.
#include "RankStates.h"
#include "xlc/Shard/Shard.h"
#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYSHARDEDPASS
#include "xlc/Shard/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

class Checker : RankStates {
public:
  using RankStates::RankStates;

  LogicalResult check(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto layout = function.getArgAttrOfType<dist::LayoutAttr>(argument.getArgNumber(), dist::kLayout))
        states[argument] = State::of(Layout::split(layout.getDim(), layout.getOuter(), layout.getGroup().size()));
    if (failed(run(function.front())))
      return failure();
    return checkReturned(function);
  }

private:
  LogicalResult run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      SmallVector<State> results(op.getNumResults());
      if (failed(infer(&op, results)))
        return failure();
      for (auto [result, state] : llvm::zip(op.getResults(), results))
        states[result] = state;
    }
    return success();
  }

  LogicalResult infer(Operation *op, SmallVectorImpl<State> &results) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<func::CallOp>([&](auto call) { return enter(call, results); })
        .Case<dist::AxisIndexOp>([&](auto index) {
          results[0].kind = State::Kind::Index;
          results[0].group = index.getGroup();
          return success();
        })
        .Case<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp, dist::AllToAllOp, ReshapeOp, BroadcastOp,
              ConstantOp, GatherOp, ScatterAddOp, AttentionOp, AttentionBackwardOp>(
            [&](auto known) { return inferOp(known, results); })
        .Default([&](Operation *other) { return inferByFactors(other, results); });
  }

  /// A unit function, on what it is called with.
  LogicalResult enter(func::CallOp call, SmallVectorImpl<State> &results) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands()))
      states[argument] = State(of(operand));
    if (failed(run(callee.front())))
      return failure();
    for (auto [result, returned] : llvm::zip(results, callee.front().getTerminator()->getOperands()))
      result = of(returned);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Collectives
  //===--------------------------------------------------------------------===//

  /// Whether the group is that of the `parts` pieces, of which the ranks hold `within` together.
  bool isPartsGroup(dist::GroupAttr group, int64_t parts, int64_t within = 1) {
    return group == dist::GroupAttr::tensorParallel(group.getContext(), parts / within, tp / parts);
  }

  LogicalResult inferOp(dist::AllReduceOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    if (op.getKind() == dist::Reduction::max && state.kind == State::Kind::Max)
      return success();
    if (op.getKind() == dist::Reduction::max || !state.isPartial())
      return op.emitOpError("gate of Shard: is given what is not partial: every rank would count it again");
    if (op.getGroup() != dist::GroupAttr::tensorParallel(op.getContext(), tp / state.parts()))
      return op.emitOpError() << "gate of Shard: sums over " << op.getGroup() << ", which are not the ranks that hold "
                              << "terms of one sum";
    results[0] = State::of(state.layout.summed());
    return success();
  }

  LogicalResult inferOp(dist::AllGatherOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    int64_t parts = state.parts() / op.getGroup().size();
    Layout layout = Layout::split(op.getDim(), op.getOuter(), state.parts());
    if (!state.isPiece() || state.isPartial() || !isSameCut(shapeOf(op.getX()), layout, state.layout) || parts < 1 ||
        !isPartsGroup(op.getGroup(), state.parts(), parts))
      return op.emitOpError("gate of Shard: gathers what is not cut into pieces this way");
    results[0] = State::of(Layout::split(op.getDim(), op.getOuter(), parts));
    return success();
  }

  LogicalResult inferOp(dist::AllToAllOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    Layout layout = Layout::split(op.getFrom(), op.getFromOuter(), state.parts());
    if (!state.isPiece() || state.isPartial() || !isSameCut(shapeOf(op.getX()), layout, state.layout) ||
        !isPartsGroup(op.getGroup(), state.parts()))
      return op.emitOpError("gate of Shard: turns what is not cut into pieces this way");
    results[0] = State::of(Layout::split(op.getTo(), op.getToOuter(), state.parts()));
    return success();
  }

  LogicalResult inferOp(dist::ReduceScatterOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    if (!state.isPartial() || !isPartsGroup(op.getGroup(), tp, state.parts()))
      return op.emitOpError("gate of Shard: reduces what is not partial over these ranks");
    results[0] = State::of(Layout::split(op.getDim(), op.getOuter(), tp));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Ops with a rule of their own
  //===--------------------------------------------------------------------===//

  LogicalResult inferOp(ConstantOp op, SmallVectorImpl<State> &results) {
    results[0].uniform = op.getValue().isSplat() ? kAllDimensions : 0;
    return success();
  }

  LogicalResult inferOp(ReshapeOp op, SmallVectorImpl<State> &results) {
    results[0] = of(op.getX());
    results[0].uniform = results[0].uniform == kAllDimensions ? kAllDimensions : 0;
    if (!results[0].isPiece())
      return success();
    int64_t above = aboveOf(shapeOf(op.getX()), results[0].layout);
    std::optional<Layout> layout = layoutAt(shapeOf(op.getY()), above, results[0].layout);
    if (auto cut = op->getAttrOfType<DenseI64ArrayAttr>(kCut); cut && cut.size() == 2) {
      Layout said{cut[0], cut[1], results[0].layout.parts, results[0].layout.isPartial};
      bool isThere = cut[0] >= 0 && cut[0] < int64_t(shapeOf(op.getY()).size());
      layout = isThere && aboveOf(shapeOf(op.getY()), said) == above ? std::optional(said) : std::nullopt;
    }
    if (!layout)
      return op.emitOpError("gate of Shard: reshapes a piece across its cut");
    results[0].layout = *layout;
    return success();
  }

  /// What is repeated is equal along the new dimensions, on whatever piece of them.
  LogicalResult inferOp(BroadcastOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    ArrayRef<int64_t> x = shapeOf(op.getX()), y = shapeOf(op.getY());
    if (state.isPiece())
      return inferByFactors(op, results);
    uint64_t uniform = 0;
    for (size_t dim = 0; dim < y.size(); ++dim) {
      int64_t own = int64_t(dim) - int64_t(y.size() - x.size());
      bool isRepeated = own < 0 || x[own] != y[dim] || x[own] == 1;
      uniform |= uint64_t(isRepeated || state.uniform >> own & 1) << dim;
    }
    state.uniform = state.uniform == kAllDimensions ? kAllDimensions : uniform;
    results[0] = state;
    return success();
  }

  /// Indices that differ by rank take a rank's piece of what all have, or find their rows among a rank's own.
  LogicalResult inferOp(GatherOp op, SmallVectorImpl<State> &results) {
    State table = of(op.getTable()), indices = of(op.getIndices());
    if (indices.kind != State::Kind::Index)
      return inferByFactors(op, results);
    Layout rows = Layout::split(op.getDimension(), 1, table.parts());
    bool isFlat = op.getDimension() == 0 && shapeOf(op.getTable()).size() == 1; // with places of whole rows
    if (table.isPiece() && !table.isPartial() && isPartsGroup(indices.group, table.parts()) &&
        (isFlat || isSameCut(shapeOf(op.getTable()), rows, table.layout))) {
      results[0].kind = State::Kind::Found;
      results[0].group = indices.group;
      return success();
    }
    int64_t parts = table.parts() * indices.group.size();
    if (table.kind != State::Kind::Same || table.isPartial() || !isPartsGroup(indices.group, parts, table.parts()))
      return op.emitOpError("gate of Shard: takes other ranks' places of what this rank has");
    results[0] = State::of(Layout::split(op.getDimension(), 1, parts));
    return success();
  }

  LogicalResult inferOp(ScatterAddOp op, SmallVectorImpl<State> &results) {
    State indices = of(op.getIndices()), updates = of(op.getUpdates());
    if (indices.kind != State::Kind::Index)
      return inferByFactors(op, results);
    if (updates.kind != State::Kind::Index)
      return op.emitOpError("gate of Shard: adds rows that this rank does not own");
    results[0] = State::of(Layout::split(op.getDimension(), 1, indices.group.size()));
    return success();
  }

  template <typename OpT>
  LogicalResult inferOp(OpT op, SmallVectorImpl<State> &results)
    requires std::is_same_v<OpT, AttentionOp> || std::is_same_v<OpT, AttentionBackwardOp>
  {
    constexpr bool isBackward = std::is_same_v<OpT, AttentionBackwardOp>;
    State q = of(op.getQ()), k = of(op.getK());
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return of(operand).isPartial(); }))
      return refusePartial(op);
    bool isFine = true;
    auto expect = [&](Value value, int64_t dim, int64_t parts) {
      const State &state = of(value);
      isFine &=
          state.kind == State::Kind::Same && isSameCut(shapeOf(value), Layout::split(dim, 1, parts), state.layout);
    };
    expect(op.getQ(), 2, q.parts());
    expect(op.getK(), 2, k.parts());
    expect(op.getV(), 2, k.parts());
    if (Value bias = op.getBias(); bias && !of(bias).isWhole())
      expect(bias, 1, q.parts());
    if constexpr (isBackward) {
      expect(op.getOut(), 2, q.parts());
      expect(op.getLse(), 1, q.parts());
      expect(op.getDout(), 2, q.parts());
    }
    if (!isFine || q.parts() % k.parts() != 0)
      return op.emitOpError("gate of Shard: has other heads of one operand than of another");
    for (auto [result, state] : llvm::zip(op->getResults(), results)) {
      bool isLse = !isBackward && result.getResultNumber() == 1, isKey = isBackward && result.getResultNumber() > 0;
      state.layout = Layout::split(isLse ? 1 : 2, 1, isKey ? k.parts() : q.parts());
      state.layout.isPartial = isKey && k.parts() < q.parts();
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // What is returned
  //===--------------------------------------------------------------------===//

  LogicalResult checkReturned(func::FuncOp function) {
    llvm::StringMap<bool> isPartial;
    llvm::StringMap<Value> parameters;
    for (BlockArgument argument : function.getArguments())
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kParam))
        parameters[name] = argument;
    for (OpOperand &returned : function.front().getTerminator()->getOpOperands()) {
      unsigned number = returned.getOperandNumber();
      State state = of(returned.get()), wanted;
      auto name = function.getResultAttrOfType<StringAttr>(number, kGrad);
      if (name)
        wanted = of(parameters.lookup(name));
      auto declared = function.getResultAttrOfType<dist::GroupAttr>(number, dist::kPartial);
      std::string what = name ? "the gradient of '" + name.str() + "'" : "result " + std::to_string(number);
      if (state.kind != State::Kind::Same)
        return function.emitError() << "gate of Shard: " << what << " is a rank's own";
      if (state.isPartial() != bool(declared) ||
          (declared && declared != dist::GroupAttr::tensorParallel(function.getContext(), tp / state.parts())))
        return function.emitError() << "gate of Shard: " << what << (state.isPartial() ? " is" : " is not")
                                    << " a partial sum, and " << (declared ? "is" : "is not") << " declared as one";
      if (!isSameCut(shapeOf(returned.get()), state.layout, wanted.layout))
        return function.emitError() << "gate of Shard: " << what << " is not cut as its parameter is";
      if (name && isPartial.try_emplace(name, state.isPartial()).first->second != state.isPartial())
        return function.emitError() << "gate of Shard: of the contributions to " << what
                                    << " some are partial sums and some are not";
    }
    return success();
  }
};

/// The ranks of the tensor-parallel groups that the module speaks of; 1 where there are none.
int64_t findTensorParallel(ModuleOp module) {
  int64_t tp = 1;
  auto see = [&](dist::GroupAttr group) {
    if (group.getAxis() == "tp" && group.getDigits().size() == 2)
      tp = std::max(tp, group.getDigits()[0] * group.getDigits()[1]);
  };
  AttrTypeWalker walker;
  walker.addWalk([&](dist::GroupAttr group) { see(group); });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  return tp;
}

struct VerifyShardedPass : xlc::impl::VerifyShardedPassBase<VerifyShardedPass> {
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("micro_batch");
    int64_t tp = findTensorParallel(getOperation());
    if (function && tp > 1 && failed(Checker(tp).check(function)))
      signalPassFailure();
  }
};

} // namespace
