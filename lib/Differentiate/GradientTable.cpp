// The gradient table: one row per op of the graph dialect. Ops that only backward creates (attention_backward and the
// like) have no row, because second derivatives are not supported.
#include "Rules.h"

using namespace mlir;
using namespace xlc;

namespace {
// Sorted by name. A null rule: results carry no float that depends on a parameter.
constexpr GradientRow table[] = {
    {"graph.abs", gradients::abs},
    {"graph.add", gradients::add},
    {"graph.and", nullptr},
    {"graph.atan", gradients::atan},
    {"graph.attention", gradients::attention},
    {"graph.broadcast", gradients::broadcast},
    {"graph.cast", gradients::cast},
    {"graph.compare", nullptr},
    {"graph.concat", gradients::concat},
    {"graph.constant", nullptr},
    {"graph.contract", gradients::contract},
    {"graph.convolution", gradients::convolution},
    {"graph.convolution_transpose", gradients::convolutionTranspose},
    {"graph.cos", gradients::cos},
    {"graph.cross_entropy", gradients::crossEntropy},
    {"graph.div", gradients::div},
    {"graph.erf", gradients::erf},
    {"graph.exp", gradients::exp},
    {"graph.floor", nullptr},
    {"graph.gather", gradients::gather},
    {"graph.gather_elements", gradients::gatherElements},
    {"graph.gelu", gradients::gelu},
    {"graph.iota", nullptr},
    {"graph.is_nan", nullptr},
    {"graph.layer_norm", gradients::layerNorm},
    {"graph.log", gradients::log},
    {"graph.max", gradients::max},
    {"graph.max_pool", gradients::maxPool},
    {"graph.min", gradients::min},
    {"graph.mul", gradients::mul},
    {"graph.neg", gradients::neg},
    {"graph.not", nullptr},
    {"graph.or", nullptr},
    {"graph.pad", gradients::pad},
    {"graph.pow", gradients::pow},
    {"graph.random_bits", nullptr},
    {"graph.reduce", gradients::reduce},
    {"graph.reshape", gradients::reshape},
    {"graph.rms_norm", gradients::rmsNorm},
    {"graph.scale", gradients::scale},
    {"graph.scatter_add", gradients::scatterAdd},
    {"graph.scatter_elements", gradients::scatterElements},
    {"graph.scatter_elements_add", gradients::scatterElementsAdd},
    {"graph.select", gradients::select},
    {"graph.sigmoid", gradients::sigmoid},
    {"graph.sign", nullptr},
    {"graph.silu", gradients::silu},
    {"graph.sin", gradients::sin},
    {"graph.site", nullptr},
    {"graph.slice", gradients::slice},
    {"graph.softmax", gradients::softmax},
    {"graph.sqrt", gradients::sqrt},
    {"graph.step_number", nullptr},
    {"graph.stochastic_cast", nullptr},
    {"graph.stop_gradient", nullptr},
    {"graph.sub", gradients::sub},
    {"graph.tanh", gradients::tanh},
    {"graph.transpose", gradients::transpose},
};
} // namespace

const GradientRow *xlc::findGradient(StringRef op) {
  const GradientRow *row =
      llvm::lower_bound(table, op, [](const GradientRow &row, StringRef op) { return row.op < op; });
  return row != std::end(table) && row->op == op ? row : nullptr;
}

Value GradientBuilder::sumTo(Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  int64_t extra = from.getRank() - type.getRank();
  SmallVector<int64_t> dimensions, kept;
  for (int64_t i = 0; i < from.getRank(); ++i) {
    bool isRepeated = i < extra || (type.getDimSize(i - extra) == 1 && from.getDimSize(i) != 1);
    if (isRepeated)
      dimensions.push_back(i);
    else
      kept.push_back(from.getDimSize(i));
  }
  if (!dimensions.empty())
    value = create<graph::ReduceOp>(from.clone(kept), graph::Reduction::sum, value, dimensions);
  return value.getType() == type ? value : create<graph::ReshapeOp>(type, value).getResult();
}

Value GradientBuilder::unreduce(Value value, ArrayRef<int64_t> dimensions, RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dimension : dimensions)
    shape[dimension] = 1;
  auto kept = cast<RankedTensorType>(value.getType()).clone(shape);
  if (value.getType() != kept)
    value = create<graph::ReshapeOp>(kept, value);
  auto whole = kept.clone(type.getShape());
  return value.getType() == whole ? value : create<graph::BroadcastOp>(whole, value).getResult();
}
