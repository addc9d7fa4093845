// The interpretation table: one row per op, naming its rule. An op with a formula needs none.
//
// The table is a template over the element type, so that each arithmetic has the same rows.
#include "ByFormula.h"
#include "xlc/Dialect/Graph/NamedOps.h"

using namespace xlc::interpret;

namespace {
template <class E> struct Row {
  llvm::StringLiteral opName;
  Rule<E> rule;
};

template <class E>
constexpr Row<E> kTable[] = {
    {"graph.abs", ElementwiseRules<E>::abs},
    {"graph.add", ElementwiseRules<E>::add},
    {"graph.and", ElementwiseRules<E>::logicalAnd},
    {"graph.atan", ElementwiseRules<E>::atan},
    {"graph.attention", AttentionRules<E>::attention},
    {"graph.attention_backward", AttentionRules<E>::attentionBackward},
    {"graph.broadcast", ShapeRules<E>::broadcast},
    {"graph.cast", ElementwiseRules<E>::cast},
    {"graph.compare", ElementwiseRules<E>::compare},
    {"graph.concat", ShapeRules<E>::concat},
    {"graph.constant", ShapeRules<E>::constant},
    {"graph.contract", ReductionRules<E>::contract},
    {"graph.convolution", WindowRules<E>::convolution},
    {"graph.convolution_transpose", WindowRules<E>::convolutionTranspose},
    {"graph.convolution_weight_backward", WindowRules<E>::convolutionWeightBackward},
    {"graph.cos", ElementwiseRules<E>::cos},
    {"graph.cross_entropy", TrainingRules<E>::crossEntropy},
    {"graph.cross_entropy_backward", TrainingRules<E>::crossEntropyBackward},
    {"graph.div", ElementwiseRules<E>::div},
    {"graph.erf", ElementwiseRules<E>::erf},
    {"graph.exp", ElementwiseRules<E>::exp},
    {"graph.floor", ElementwiseRules<E>::floor},
    {"graph.gather", ShapeRules<E>::gather},
    {"graph.gather_elements", ShapeRules<E>::gatherElements},
    {"graph.gelu", NormRules<E>::gelu},
    {"graph.gelu_backward", NormRules<E>::geluBackward},
    {"graph.iota", ShapeRules<E>::iota},
    {"graph.is_nan", ElementwiseRules<E>::isNan},
    {"graph.layer_norm", NormRules<E>::layerNorm},
    {"graph.layer_norm_backward", NormRules<E>::layerNormBackward},
    {"graph.layer_norm_weight_backward", NormRules<E>::layerNormWeightBackward},
    {"graph.log", ElementwiseRules<E>::log},
    {"graph.site", ShapeRules<E>::site},
    {"graph.step_number", ShapeRules<E>::stepNumber},
    {"graph.max", ElementwiseRules<E>::max},
    {"graph.max_pool", WindowRules<E>::maxPool},
    {"graph.max_pool_backward", WindowRules<E>::maxPoolBackward},
    {"graph.min", ElementwiseRules<E>::min},
    {"graph.mul", ElementwiseRules<E>::mul},
    {"graph.neg", ElementwiseRules<E>::neg},
    {"graph.not", ElementwiseRules<E>::logicalNot},
    {"graph.optimizer_step", TrainingRules<E>::optimizerStep},
    {"graph.or", ElementwiseRules<E>::logicalOr},
    {"graph.pad", ShapeRules<E>::pad},
    {"graph.pow", ElementwiseRules<E>::pow},
    {"graph.random_bits", ShapeRules<E>::randomBits},
    {"graph.reduce", ReductionRules<E>::reduce},
    {"graph.reshape", ShapeRules<E>::reshape},
    {"graph.rms_norm", NormRules<E>::rmsNorm},
    {"graph.rms_norm_backward", NormRules<E>::rmsNormBackward},
    {"graph.rms_norm_weight_backward", NormRules<E>::rmsNormWeightBackward},
    {"graph.scale", ElementwiseRules<E>::scale},
    {"graph.scatter_add", ShapeRules<E>::scatterAdd},
    {"graph.scatter_elements_add", ShapeRules<E>::scatterElementsAdd},
    {"graph.scatter_elements", ShapeRules<E>::scatterElements},
    {"graph.select", ElementwiseRules<E>::select},
    {"graph.sigmoid", ElementwiseRules<E>::sigmoid},
    {"graph.sign", ElementwiseRules<E>::sign},
    {"graph.silu", NormRules<E>::silu},
    {"graph.silu_backward", NormRules<E>::siluBackward},
    {"graph.sin", ElementwiseRules<E>::sin},
    {"graph.slice", ShapeRules<E>::slice},
    {"graph.softmax", ReductionRules<E>::softmax},
    {"graph.sqrt", ElementwiseRules<E>::sqrt},
    {"graph.stochastic_cast", ElementwiseRules<E>::stochasticCast},
    {"graph.stop_gradient", ShapeRules<E>::reshape},
    {"graph.sub", ElementwiseRules<E>::sub},
    {"graph.sum_squares", ReductionRules<E>::sumSquares},
    {"graph.tanh", ElementwiseRules<E>::tanh},
    {"graph.transpose", ShapeRules<E>::transpose},
};
} // namespace

namespace xlc::interpret {

template <class E> Rule<E> findRule(llvm::StringRef opName) {
  const Row<E> *row = llvm::find_if(kTable<E>, [&](const Row<E> &row) { return row.opName == opName; });
  if (row != std::end(kTable<E>))
    return row->rule;
  return xlc::graph::hasFormula(opName) ? evaluateByFormula<E> : nullptr;
}
template Rule<double> findRule(llvm::StringRef);
template Rule<float> findRule(llvm::StringRef);
template Rule<Bounded> findRule(llvm::StringRef);
template Rule<Field> findRule(llvm::StringRef);

bool hasInterpretation(llvm::StringRef opName) { return findRule<double>(opName) != nullptr; }

} // namespace xlc::interpret
