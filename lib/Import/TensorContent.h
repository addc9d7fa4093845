// The identity of a tensor of floats: digests of its bits, and the views by which one tensor becomes another.
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

/// Rounds elements to a type of ONNX (16-bit floats, to nearest even); other types leave them unchanged.
void roundTo(int elementType, llvm::MutableArrayRef<float> elements);

/// The views by which a tensor of shape `from` gets shape `to`: its dimensions permuted, then dimensions of size 1
/// inserted or removed. With `regroups` also the same elements in any other shape. The identity comes first.
llvm::SmallVector<TensorView> findViews(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, bool regroups);

/// Whether `view` of a tensor (`elements`, `shape`) has the elements `expected`, in bits.
bool isEqualView(llvm::ArrayRef<float> elements, llvm::ArrayRef<int64_t> shape, const TensorView &view,
                 llvm::ArrayRef<float> expected);

} // namespace xlc::onnx

#endif
