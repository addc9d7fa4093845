// Whether two rows of numbers are related: on a line, or in one order. Rows that are too short, or too regular, are not
// considered related.
#ifndef XLC_LIB_IMPORT_FITS_H
#define XLC_LIB_IMPORT_FITS_H

#include "llvm/ADT/ArrayRef.h"

namespace xlc::onnx {

inline constexpr size_t kFewestOnLine = 4;    ///< elements that are not taken to lie on a line by chance
inline constexpr double kFitTolerance = 1e-5; ///< relative: a few roundings of float32

/// Whether y is affine in x, and x has enough distinct elements.
bool isAffine(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y);
bool isAffine(llvm::ArrayRef<float> x, llvm::ArrayRef<float> y);

/// Whether y grows, or falls, wherever x grows; not where x is in order anyway, as y may be without it.
bool isMonotone(llvm::ArrayRef<float> x, llvm::ArrayRef<float> y);

} // namespace xlc::onnx

#endif
