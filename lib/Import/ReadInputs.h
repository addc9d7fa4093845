// Readers of inputs and attributes that rules of several ops share.
#ifndef XLC_IMPORT_READINPUTS_H
#define XLC_IMPORT_READINPUTS_H

#include "Rules.h"

namespace xlc::onnx {

using graph::Formula;

/// The axes of a reduction: input `i` or attribute `axes`; all if neither is given, unless noop_with_empty_axes. False
/// (and a problem) if they are unknown or do not exist.
bool readAxes(NodeImport &n, size_t i, Shape &axes);
/// Attribute `axis`, counted from the front; false (and a problem) if it does not exist.
bool readAxis(NodeImport &n, int64_t otherwise, int64_t &axis);
/// The integers of input `i`, or of the attribute that replaces it in older opsets; false if they are unknown.
bool readInts(NodeImport &n, size_t i, llvm::StringRef name, std::optional<Shape> &result);
/// Input `i` if it is of float type; null (and a problem) otherwise.
mlir::Value readFloats(NodeImport &n, size_t i);
/// Ends a rule whose result is a formula of input 0, which is of float type; false (and a problem) otherwise.
bool produceFormula(NodeImport &n, llvm::function_ref<mlir::Value(Formula, mlir::Value)> formula);
/// Indices of input `i` into a dimension of `size`: known ones are checked, others counted from the front and clamped,
/// so that no element outside is ever read. Null (and a problem) if they are not integers, or are outside.
mlir::Value readIndices(NodeImport &n, size_t i, int64_t size);
/// Input `i` if it is the integers of a model input, only moved: Import limits these (InputLimits.cpp). Null otherwise.
mlir::Value readInputIndices(NodeImport &n, size_t i);

} // namespace xlc::onnx

#endif
