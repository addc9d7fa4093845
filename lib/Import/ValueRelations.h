// Whether a constant was computed from a parameter, and whether it resembles one that was not: both by values alone.
// See ValueRelations.cpp.
#ifndef XLC_IMPORT_VALUERELATIONS_H
#define XLC_IMPORT_VALUERELATIONS_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace xlc::onnx {

/// A tensor of floats, row-major. Dimensions of 1 are omitted.
struct ValuedTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<float> values;

  ValuedTensor(llvm::ArrayRef<int64_t> shape, std::vector<float> values);
  bool isUniform() const;
};

/// Whether `constant` is a function of the elements of `parameter`: of each, of each row, a piece of them, or a sum
/// over them. If both are one repeated number, a simple function of one must yield the other.
bool isComputedFrom(const ValuedTensor &constant, const ValuedTensor &parameter);

/// Whether a number has at most `digits` digits before trailing zeros, within the precision of a float.
bool isPlain(double x, int digits);

/// Whether a number is a sum over all of `parameters`, of their squares or of their absolute values, times a factor of
/// one digit.
bool isSumOver(float number, llvm::ArrayRef<ValuedTensor> parameters);

/// Whether values are integers of one positive step, as `arange` writes them: 0, 2, 4.
bool countsUpwards(llvm::ArrayRef<float> values);

/// Whether a tensor is typical of values that models compute from no parameter: numbers of few digits and their roots
/// and logarithms, at most two different numbers (masks), arithmetic and geometric progressions (positions, slopes),
/// sinusoids.
bool isRegular(const ValuedTensor &tensor);

/// Whether a tensor has two different numbers, one of which is not used in computations.
bool isMask(const ValuedTensor &tensor);

/// Whether each column of a table is a sinusoid of the row: sin(row * w) or cos(row * w).
bool isSinusoidTable(const ValuedTensor &tensor);

} // namespace xlc::onnx

#endif
