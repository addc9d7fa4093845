// What library calls ask of the memory of an operand.
#ifndef XLC_LIB_KERNELS_CALLMEMORY_H
#define XLC_LIB_KERNELS_CALLMEMORY_H

#include "xlc/Kernels/LibraryCalls.h"

namespace xlc {

/// From each dimension's element to the next; none where memory is not strided.
inline llvm::SmallVector<int64_t> stridesOf(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (mlir::failed(type.getStridesAndOffset(strides, offset)))
    return {};
  return strides;
}

/// None for types that no library call has.
inline std::optional<runtime::FloatType> floatOf(mlir::MemRefType type) {
  mlir::Type element = type.getElementType();
  if (element.isF32())
    return runtime::FloatType::F32;
  if (element.isBF16())
    return runtime::FloatType::BF16;
  return element.isF16() ? std::optional(runtime::FloatType::F16) : std::nullopt;
}

} // namespace xlc

#endif
