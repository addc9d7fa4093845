// Inputs that index a table must be checked before training, because ops do not check indices. Each use of an input as
// indices limits it; `graph.limit` is the smallest of all limits, and the program rejects data beyond it, by row.
// Indices that are computed from inputs are clamped where they are read (Formula.cpp), and set no limit.
#include "InputLimits.h"

#include "Importer.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

/// A label that the loss ignores is no id: where an exporter has merged ids and labels, which were equal in its
/// example, or two losses ignore different labels, none is admitted.
void limit(func::FuncOp forward, Value indices, int64_t size, std::optional<int64_t> ignored) {
  BlockArgument input = findIndexedInput(indices);
  if (!input)
    return;
  unsigned number = input.getArgNumber();
  OpBuilder builder(forward.getContext());
  auto known = forward.getArgAttrOfType<IntegerAttr>(number, graph::kLimit);
  if (!known || known.getInt() > size)
    forward.setArgAttr(number, graph::kLimit, builder.getI64IntegerAttr(size));
  IntegerAttr admitted = ignored && *ignored < 0 ? builder.getI64IntegerAttr(*ignored) : IntegerAttr();
  if (known && forward.getArgAttr(number, graph::kIgnore) != admitted)
    forward.removeArgAttr(number, graph::kIgnore);
  else if (admitted)
    forward.setArgAttr(number, graph::kIgnore, admitted);
}

} // namespace

void xlc::onnx::limitInputs(func::FuncOp forward) {
  forward.walk([&](graph::CrossEntropyOp loss) {
    limit(forward, loss.getLabels(), shapeOf(loss.getLogits()).back(), loss.getIgnoreIndex());
  });
  forward.walk([&](graph::GatherOp gather) {
    limit(forward, gather.getIndices(), shapeOf(gather.getTable())[gather.getDimension()], std::nullopt);
  });
}

void xlc::onnx::limitWholeSteps(func::FuncOp forward) {
  llvm::DenseMap<mlir::Attribute, unsigned> parts; // by name
  for (unsigned part = 0; part < forward.getNumArguments(); ++part)
    if (mlir::Attribute name = graph::Argument(forward, part).getInput())
      parts.try_emplace(name, part);
  graph::SignatureAttributes attributes(forward);
  for (unsigned whole = 0; whole < forward.getNumArguments(); ++whole)
    if (auto part = parts.find(forward.getArgAttr(whole, graph::kWholeStep)); part != parts.end())
      for (StringRef key : {graph::kLimit, graph::kIgnore})
        if (mlir::Attribute value = forward.getArgAttr(part->second, key))
          attributes.setArgument(whole, key, value);
}
