// Imports a node by the rule of its row, and keeps tensors without elements, such as a cache of length zero or an empty
// slice, out of the graph.
//
// Such a tensor is known, independently of its definition. So it is a constant, which shape arithmetic may move,
// measure and join, and no gradient flows through it; it is never an operand or result of an op of the graph. A node
// that would compute with one is rejected: a product over a dimension of 0 is a mistake of the model.
#include "Rules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

constexpr char computesWithNothing[] =
    "computes with an empty tensor; empty tensors may only be moved, concatenated, and read for their shape";

bool isEmpty(Value value) { return llvm::is_contained(shapeOf(value), 0); }

bool isEmpty(const ImportedValue &value) {
  return value.constant ? llvm::is_contained(value.constant->shape, 0) : value.value && isEmpty(value.value);
}

/// Of the ops behind `last` (null: all of the block), erases those that have an empty operand or result and that nothing
/// reads. False where another one has: `outputs` need it.
bool eraseEmpty(Block &block, Operation *last, ArrayRef<Value> outputs) {
  auto touches = [](ValueRange values) { return llvm::any_of(values, [](Value value) { return isEmpty(value); }); };
  auto isNeeded = [&](Value value) {
    return !value.use_empty() || (llvm::is_contained(outputs, value) && !isEmpty(value));
  };
  for (Operation *op = block.empty() ? nullptr : &block.back(); op && op != last;) {
    Operation *before = op->getPrevNode();
    if (touches(op->getOperands()) || touches(op->getResults())) {
      if (llvm::any_of(op->getResults(), isNeeded))
        return false;
      op->erase();
    }
    op = before;
  }
  return true;
}

} // namespace

ImportedValue xlc::onnx::holdValue(Value value) {
  ImportedValue result;
  if (!value || !isEmpty(value)) {
    result.value = value;
    return result;
  }
  ElementType type = *findElementType(cast<RankedTensorType>(value.getType()).getElementType());
  result.constant = std::make_shared<const ConstantTensor>(type, shapeOf(value));
  return result;
}

bool Importer::import(const Node &node, const Operator &op, ArrayRef<ImportedValue *> inputs, Value bias,
                      Values &outputs) {
  Location loc = builder.getUnknownLoc();
  for (const std::string &output : llvm::reverse(node.outputs)) // names of tensors are places to cut at, too
    if (!output.empty() && output != node.name)
      loc = NameLoc::get(builder.getStringAttr(output), loc);
  loc = NameLoc::get(builder.getStringAttr(node.name), loc);
  if (!inputs.empty() && isEmpty(*inputs[0]) && op.import != importConcat)
    return complain(node, computesWithNothing);
  Block &block = *builder.getInsertionBlock();
  Operation *last = block.empty() ? nullptr : &block.back();
  NodeImport state(node, node.opset, builder, loc, inputs, bias, &sites);
  bool isDone = false;
  try {
    isDone = op.import(state);
  } catch (const TooManyElements &) {
    state.problem = "uses a constant of more than " + std::to_string(maximumStored) + " elements";
  }
  if (!isDone || !state.problem.empty())
    return complain(node, state.problem);
  for (Value output : state.outputs) {
    SmallVector<int64_t> shape = output ? shapeOf(output) : SmallVector<int64_t>();
    if ((int)shape.size() > maximumRank)
      return complain(node, "produces a tensor of " + Twine(shape.size()) + " dimensions, but at most " +
                                Twine(maximumRank) + " are supported");
    int64_t elements = 1;
    for (int64_t size : shape)
      if (llvm::MulOverflow(elements, size, elements) || elements > maximumElements)
        return complain(node, "produces a tensor of more than 2^44 elements");
    outputs.push_back(holdValue(output));
  }
  return eraseEmpty(block, last, state.outputs) || complain(node, computesWithNothing);
}
