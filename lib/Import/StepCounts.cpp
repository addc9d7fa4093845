// See StepCounts.h.
#include "StepCounts.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

/// What a value is computed from: of a cross-entropy's count the labels alone.
static SmallVector<Value> needsOf(OpResult value) {
  auto scored = dyn_cast<graph::CrossEntropyOp>(value.getOwner());
  if (scored && value == scored.getCount())
    return {scored.getLabels()};
  return SmallVector<Value>(value.getOwner()->getOperands());
}

bool StepCounts::isOfInputs(Value count) {
  SmallVector<Value> pending{count};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (graph::Argument(argument).getParameter())
        return false;
    } else {
      llvm::append_range(pending, needsOf(cast<OpResult>(value)));
    }
  }
  return true;
}

Value StepCounts::addInput(BlockArgument rows) {
  auto name = graph::Argument(rows).getInput();
  unsigned number = forward.getNumArguments();
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr(graph::kInput, builder.getStringAttr(name.getValue() + "@step")),
      builder.getNamedAttr(graph::kWholeStep, name)};
  (void)forward.insertArgument(number, rows.getType(), builder.getDictionaryAttr(attributes), rows.getLoc());
  return forward.getArgument(number);
}

Value StepCounts::countLabels(graph::CrossEntropyOp scored) {
  Value labels = copy(scored.getLabels());
  Location loc = scored.getLoc();
  auto type = cast<RankedTensorType>(labels.getType());
  Value other = labels; // where no label is ignored, every label equals itself
  if (std::optional<int64_t> ignore = scored.getIgnoreIndex()) {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    mlir::Attribute number = builder.getIntegerAttr(type.getElementType(), *ignore);
    Value ignored = graph::ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, number));
    other = graph::BroadcastOp::create(builder, loc, type, ignored);
  }
  auto predicate = other == labels ? graph::Predicate::eq : graph::Predicate::ne;
  Value isCounted = graph::CompareOp::create(builder, loc, type.clone(builder.getI1Type()), predicate, labels, other);
  Value ones = graph::CastOp::create(builder, loc, type.clone(builder.getI64Type()), isCounted);
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return graph::ReduceOp::create(builder, loc, RankedTensorType::get({}, builder.getI64Type()), graph::Reduction::sum,
                                 ones, dimensions);
}

Value StepCounts::copy(Value count) {
  if (Value known = copies.lookup(count))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(count))
    return copies[count] = addInput(argument);
  auto result = cast<OpResult>(count);
  auto scored = dyn_cast<graph::CrossEntropyOp>(result.getOwner());
  if (scored && count == scored.getCount())
    return copies[count] = countLabels(scored);
  SmallVector<Value> operands;
  for (Value operand : result.getOwner()->getOperands())
    operands.push_back(copy(operand));
  Operation *made = builder.clone(*result.getOwner());
  made->setOperands(operands);
  for (auto [from, to] : llvm::zip(result.getOwner()->getResults(), made->getResults()))
    copies[from] = to;
  return copies[count];
}
