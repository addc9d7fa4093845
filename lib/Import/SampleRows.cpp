// See SampleRows.h.
#include "SampleRows.h"

#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Factors/FactorRules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

SampleRows::Lie SampleRows::ofArgument(BlockArgument argument) const {
  graph::Argument what(argument);
  if (!what.getInput() || what.getWholeOf())
    return {};
  return {shard::Layout::split(0, 1, rows), true, true};
}

/// By the factor rule of the op, from the first operand that has rows.
SampleRows::Lie SampleRows::infer(Operation *op) const {
  Lie result;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    const Lie &of = known.at(operand);
    result.hasInput |= of.hasInput;
    result.isKnown &= of.isKnown;
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    const Lie &of = known.at(operand);
    if (!of.isKnown || !of.layout.isSplit())
      continue;
    std::optional<shard::Spread> spread = shard::spreadBatch(op, {unsigned(number), of.layout, rows});
    if (!spread || spread->results.empty())
      return {{}, false, true};
    bool isSplit = spread->results[0].isSplit();
    return {isSplit ? spread->results[0].summed() : shard::Layout(), true, isSplit};
  }
  return result;
}

/// Operands are visited before results, by a list: recursion would overflow the stack on a deep file.
const SampleRows::Lie &SampleRows::of(Value value) {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument) {
      known[next] = ofArgument(argument);
      continue;
    }
    Operation *op = next.getDefiningOp();
    size_t before = pending.size();
    for (Value operand : op->getOperands())
      if (!known.contains(operand))
        pending.push_back(operand);
    if (pending.size() > before)
      continue;
    Lie made = infer(op);
    for (Value result : op->getResults())
      known[result] = made;
  }
  return known.at(value);
}

Value xlc::onnx::sampleInput(Block &entry, int64_t rows) {
  auto function = cast<func::FuncOp>(entry.getParentOp());
  for (BlockArgument argument : function.getArguments())
    if (graph::Argument(argument).isSampleNumber())
      return argument;
  Builder builder(function.getContext());
  auto type = RankedTensorType::get({rows}, builder.getI64Type());
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr(graph::kInput, builder.getStringAttr(graph::kSampleInput)),
      builder.getNamedAttr(graph::kSampleNumber, builder.getUnitAttr())};
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, type, builder.getDictionaryAttr(attributes), function.getLoc());
  return function.getArgument(number);
}
