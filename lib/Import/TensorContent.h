// What tells one tensor of floats from another: digests of its bits, and the views by which one becomes the other.
#ifndef XLC_IMPORT_TENSORCONTENT_H
#define XLC_IMPORT_TENSORCONTENT_H

#include "Parameters.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace xlc::onnx {

/// Digests of the bits of a tensor. Tensors with equal `ordered` have the same elements in the same order; those with
/// equal `unordered` have the same elements in some order (but for collisions of 64 bits).
struct TensorContent {
  int64_t count = 0;
  uint64_t ordered = 0, unordered = 0;
  bool isUniform = false; ///< all elements are `value`: what initialisation makes by the dozen says nothing
  float value = 0;

  bool hasSameElements(const TensorContent &other) const {
    return count == other.count && unordered == other.unordered;
  }
  bool operator==(const TensorContent &other) const { return hasSameElements(other) && ordered == other.ordered; }
};

TensorContent digest(llvm::ArrayRef<float> elements);

/// What elements become when they are stored in a type of ONNX (16-bit floats, to nearest even); else as they are.
void roundTo(int elementType, llvm::MutableArrayRef<float> elements);

/// The views by which a tensor of shape `from` gets shape `to`: its dimensions permuted, then dimensions of size 1 put
/// in or taken out. With `regroups` also the same elements in any other shape. First of all the one that moves nothing.
llvm::SmallVector<TensorView> findViews(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, bool regroups);

/// Whether `view` of a tensor (`elements`, `shape`) has the elements `expected`, in bits.
bool isEqualView(llvm::ArrayRef<float> elements, llvm::ArrayRef<int64_t> shape, const TensorView &view,
                 llvm::ArrayRef<float> expected);

} // namespace xlc::onnx

#endif
