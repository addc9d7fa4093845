// Small questions that the raising passes ask of a value: is it one number, a mask, which elements?
#ifndef XLC_IMPORT_MATCHVALUES_H
#define XLC_IMPORT_MATCHVALUES_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// The constant behind broadcasts; null when there is none.
mlir::DenseElementsAttr findConstant(mlir::Value value);

/// The number that all elements of `value` are, if it is known.
std::optional<double> findSplat(mlir::Value value);

/// If `value` is x * c, x / c or a scale: moves on to x and multiplies `factor` by c.
bool peelFactor(mlir::Value &value, double &factor);

/// What a known additive mask (0, or very negative) or boolean mask (`keeps`: the value of kept places) over
/// the last two dimensions [queries, keys] allows; none when it is not one of the graph's masks.
std::optional<graph::Mask> findAdditiveMask(mlir::Value mask, int64_t queries, int64_t keys);
std::optional<graph::Mask> findBooleanMask(mlir::Value mask, int64_t queries, int64_t keys, bool keeps);

} // namespace xlc

#endif
