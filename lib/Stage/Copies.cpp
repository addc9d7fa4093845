// See Copies.h. A copy precedes its first reader. Its operands are copied with it, as far as the rule allows.
#include "Copies.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Stage/Stage.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// Ops that compute an element from elements of their operands, one each.
bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>() || isa<ConcatOp>(op); }

DenseSet<Value> findGivenValues(func::FuncOp function) {
  DenseSet<Value> given;
  for (BlockArgument argument : function.getArguments())
    if (Argument(argument).getInput())
      given.insert(argument);
  for (Operation &op : function.front())
    if (getRole(&op) == Role::F && (computesNothing(&op) || isElementwise(&op)) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return given.contains(operand); }))
      given.insert_range(op.getResults());
  return given;
}

class Copies {
public:
  Copies(func::FuncOp function, CopyRule rule) : builder(function), rule(rule), given(findGivenValues(function)) {}

  /// The value that the reader is to read: a copy, or the value itself.
  Value of(Value value, Operation *reader) {
    Operation *op = value.getDefiningOp();
    if (!op || getRole(op) != Role::F || !rule.isCopied(op, reader, given.contains(value)))
      return value;
    std::pair<Value, Attribute> key(value, rule.placeOf(reader));
    auto [it, isNew] = copies.try_emplace(key, Value());
    if (!isNew) {
      hasten(it->second.getDefiningOp(), reader);
      return it->second;
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand, reader));
    builder.setInsertionPoint(reader);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->setAttr(kUnit, getUnit(reader));
    copy->setAttr(kRole, reader->getAttr(kRole));
    if (Attribute chunk = reader->getAttr(kChunk))
      copy->setAttr(kChunk, chunk);
    return copies[key] = copy->getResult(cast<OpResult>(value).getResultNumber());
  }

private:
  /// Backward's I runs before its W: a copy that W made first belongs to I as soon as I reads it, with what it is
  /// made of.
  void hasten(Operation *copy, Operation *reader) {
    if (getRole(reader) != Role::I || getRole(copy) != Role::W)
      return;
    copy->setAttr(kRole, reader->getAttr(kRole));
    for (Value operand : copy->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        hasten(producer, reader);
  }

  OpBuilder builder;
  const CopyRule rule;
  const DenseSet<Value> given;
  DenseMap<std::pair<Value, Attribute>, Value> copies;
};

} // namespace

void xlc::copyForReaders(ModuleOp module, CopyRule rule) {
  for (Entry entry : Entry::all(module)) {
    Copies copies(entry.getFunction(), rule);
    for (Operation &op : llvm::make_early_inc_range(entry.getFunction().front()))
      if (getRole(&op))
        for (OpOperand &operand : op.getOpOperands())
          operand.set(copies.of(operand.get(), &op));
  }
}
