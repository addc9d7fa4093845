// Properties of an operand's memory that library calls require.
#ifndef XLC_LIB_KERNELS_CALLMEMORY_H
#define XLC_LIB_KERNELS_CALLMEMORY_H

#include "xlc/Kernels/LibraryCalls.h"

namespace xlc {

/// The stride of each dimension; empty if the memory is not strided.
inline llvm::SmallVector<int64_t> stridesOf(mlir::MemRefType type) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (mlir::failed(type.getStridesAndOffset(strides, offset)))
    return {};
  return strides;
}

/// None for types that no library call supports.
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
