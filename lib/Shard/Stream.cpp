// Finds the residual stream and its sequence dimension.
#include "Stream.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Differentiate/Differentiate.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

bool isFloat(Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); }

/// The values of an op that keep the stream's shape and layout.
SmallVector<Value> streamValues(Operation *op) {
  if (op->hasTrait<Norm>())
    return {op->getOperand(0), op->getResult(0)};
  if (isa<LayerNormBackwardOp, RmsNormBackwardOp>(op))
    return {op->getOperand(0), op->getOperands().back(), op->getResult(0)};
  if (isa<ReshapeOp, TransposeOp>(op))
    return {op->getOperand(0), op->getResult(0)};
  SmallVector<Value> values;
  if (isElementwise(op))
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
      if (isFloat(value) && !isa_and_nonnull<BroadcastOp, ConstantOp>(value.getDefiningOp()))
        values.push_back(value);
  return values;
}

class Finder {
public:
  Finder(func::FuncOp function, int64_t tp) : function(function), tp(tp), repeated(findRepeatedClasses(function)) {}

  Stream run() {
    markLearned();
    findBoundaries();
    grow();
    Stream stream;
    stream.sequence = markSequences();
    for (Value value : members) {
      auto marked = marks.find(value);
      stream.layouts[value] = marked != marks.end() ? marked->second : Layout::replicated();
      stream.sequence.hasSequence |= marked != marks.end();
    }
    return stream;
  }

private:
  /// Values that depend on a trained parameter; others (masks, tables of positions) are no activations.
  void markLearned() {
    for (BlockArgument argument : function.getArguments())
      if (Argument(argument).isTrained())
        learned.insert(argument);
    for (Operation &op : function.front())
      if (llvm::any_of(op.getOperands(), [&](Value operand) { return learned.contains(operand); }))
        learned.insert_range(op.getResults());
  }

  void findBoundaries() {
    auto isRepeated = [&](Operation *op) { return repeated.contains(getUnit(op).getClassName()); };
    for (Operation &op : function.front().without_terminator())
      for (Value result : op.getResults())
        for (Operation *user : result.getUsers())
          if (isFloat(result) && learned.contains(result) && getUnit(user) && getUnit(user) != getUnit(&op) &&
              (isRepeated(&op) || isRepeated(user)))
            add(result);
  }

  void add(Value value) {
    if (members.insert(value).second)
      work.push_back(value);
  }

  void grow() {
    while (!work.empty()) {
      Value value = work.pop_back_val();
      SmallVector<Operation *> ops(value.getUsers());
      if (Operation *op = value.getDefiningOp())
        ops.push_back(op);
      for (Operation *op : ops)
        if (SmallVector<Value> values = streamValues(op); llvm::is_contained(values, value))
          for (Value other : values)
            if (other.getDefiningOp())
              add(other);
    }
  }

  void mark(Value value, const Layout &layout) {
    if (!marks.try_emplace(value, layout).second)
      return;
    for (Operation *user : value.getUsers())
      if (!isa<func::ReturnOp>(user))
        waiting.insert(user);
    if (Operation *op = value.getDefiningOp())
      waiting.insert(op);
  }

  /// Follows the query dimension of every attention to whatever has it. First come, first served; ops are walked to a
  /// fixpoint in program order, each again where a value of it was marked meanwhile.
  SequenceFinding markSequences() {
    SequenceFinding finding;
    function.walk([&](Operation *op) {
      if (!op->hasTrait<Attention>())
        return;
      int64_t queries = cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(1);
      if (queries % tp != 0) {
        if (!finding.op)
          finding.op = op, finding.indivisible = queries;
        return;
      }
      Layout layout = Layout::split(1, 1, tp);
      mark(op->getOperand(0), layout);
      mark(op->getResult(0), layout);
      if (isa<AttentionBackwardOp>(op))
        mark(op->getOperand(5), layout);
    });
    while (!waiting.empty())
      for (Operation &op : function.front().without_terminator())
        if (waiting.erase(&op))
          follow(&op);
    return finding;
  }

  void follow(Operation *op) {
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    for (auto [i, value] : llvm::enumerate(values)) {
      auto marked = marks.find(value);
      if (marked == marks.end())
        continue;
      std::optional<Spread> found = spread(op, {unsigned(i), marked->second, tp});
      if (!found)
        continue;
      SmallVector<Layout> layouts(found->operands.begin(), found->operands.end());
      llvm::append_range(layouts, found->results);
      for (auto [other, layout] : llvm::zip(values, layouts))
        if (layout.isSplit() && !layout.isPartial && !isa<BlockArgument>(other))
          mark(other, layout);
    }
  }

  func::FuncOp function;
  int64_t tp;
  DenseSet<StringAttr> repeated;
  DenseSet<Value> learned, members;
  SmallVector<Value> work;
  DenseMap<Value, Layout> marks;
  DenseSet<Operation *> waiting; ///< ops of which a value was marked since they were followed
};

} // namespace

DenseSet<StringAttr> shard::findRepeatedClasses(func::FuncOp function) {
  DenseSet<StringAttr> repeated;
  for (Operation &op : function.front())
    if (ModelUnitAttr unit = getUnit(&op); unit && unit.getInstance() > 0)
      repeated.insert(unit.getClassName());
  return repeated;
}

Stream shard::findStream(func::FuncOp function, int64_t tp) { return Finder(function, tp).run(); }

void Stream::replicate() {
  for (auto &[value, layout] : layouts)
    layout = Layout::replicated();
}
