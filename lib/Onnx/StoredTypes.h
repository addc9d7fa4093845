// The element types of ONNX, and the types that their elements are converted to. Exporters write constants in types in
// which xlc does not compute (a float16 scale, an int16 axis); these are converted when they are read.
#ifndef XLC_ONNX_STOREDTYPES_H
#define XLC_ONNX_STOREDTYPES_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/StringRef.h"

namespace xlc::onnx {

/// A type of ONNX: the size of its elements in the file, and the type that they are read as (`isRead`).
struct StoredType {
  int number;
  llvm::StringLiteral name;
  int width = 0;
  ElementType becomes = ElementType::Float;
  bool isRead() const { return width != 0; }
};

/// Null for a number that is not a type of ONNX.
const StoredType *findStored(int number);
/// Bytes of an element in the file.
inline int64_t storedWidth(int number) { return findStored(number)->width; }

/// Converts a tensor's bytes from the type of the file to the type in which xlc computes.
void convertStored(FileTensor &tensor);

} // namespace xlc::onnx

#endif
