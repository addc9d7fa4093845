// Predicates on values for the raising passes: a constant number, or a product with one.
#ifndef XLC_RAISE_MATCHVALUES_H
#define XLC_RAISE_MATCHVALUES_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// The constant before broadcasts; null if there is none.
mlir::DenseElementsAttr findConstant(mlir::Value value);

/// The number that all elements of `value` equal, if it is known.
std::optional<double> findSplat(mlir::Value value);

/// If `value` is x * c, x / c or a scale: sets it to x and multiplies `factor` by c.
bool peelFactor(mlir::Value &value, double &factor);

} // namespace xlc

#endif
