// The element types of ONNX, and what their elements are read as. Exporters write constants in types that xlc does not
// compute with (a float16 scale, an int16 axis); these are converted when they are read.
#ifndef XLC_ONNX_STOREDTYPES_H
#define XLC_ONNX_STOREDTYPES_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/StringRef.h"

namespace xlc::onnx {

/// A type of ONNX: what its elements take in the file, and what they are read as (`isRead`).
struct StoredType {
  int number;
  llvm::StringLiteral name;
  int width = 0;
  ElementType becomes = ElementType::Float;
  bool isRead() const { return width != 0; }
};

/// Null for a number that is no type of ONNX.
const StoredType *findStored(int number);
/// Bytes of an element in the file.
inline int64_t storedWidth(int number) { return findStored(number)->width; }

/// Converts a tensor's bytes from the type that the file has to the one that xlc computes with.
void convertStored(FileTensor &tensor);

} // namespace xlc::onnx

#endif
