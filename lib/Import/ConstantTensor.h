// A tensor whose elements are known at import: shape arithmetic, positions, masks.
//
// Masks are repeated over batch, heads and often one more dimension. So elements are stored for the shape `stored`, in
// which each dimension is that of `shape` or 1 (constant along it): Expand is free, and element-wise arithmetic touches
// each distinct element once. Integers and booleans are stored as int64, floats as double (rounded to float if the type
// is Float).
#ifndef XLC_IMPORT_CONSTANTTENSOR_H
#define XLC_IMPORT_CONSTANTTENSOR_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace xlc::onnx {

using Shape = llvm::SmallVector<int64_t, 4>;

inline bool isFloat(ElementType type) { return type == ElementType::Float || type == ElementType::Double; }

/// Product of the sizes. Callers have checked that it does not overflow.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// Whether the product of the sizes, and so all strides, can be computed without overflow; a size of 0 counts as 1.
bool hasStrides(llvm::ArrayRef<int64_t> shape);

/// Row-major strides; 0 along dimensions of size 1, so that they repeat.
Shape getStrides(llvm::ArrayRef<int64_t> stored);

/// numpy's broadcast of two shapes; false if they are incompatible.
bool broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b, Shape &result);

/// Walks `shape` in row-major order; `visit(offset...)` receives each operand's offset by its strides.
template <typename Visit> void walk(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Shape> strides, Visit visit) {
  llvm::SmallVector<int64_t, 4> offsets(strides.size(), 0), index(shape.size(), 0);
  for (int64_t left = countElements(shape); left > 0; --left) {
    visit(llvm::ArrayRef<int64_t>(offsets));
    for (int64_t d = (int64_t)shape.size() - 1; d >= 0; --d) {
      bool wraps = ++index[d] == shape[d];
      for (size_t k = 0; k < strides.size(); ++k)
        offsets[k] += wraps ? -strides[k][d] * (shape[d] - 1) : strides[k][d];
      if (!wraps)
        break;
      index[d] = 0;
    }
  }
}

/// Thrown by a ConstantTensor whose size a hostile file would make excessive; caught at the evaluation of a node.
struct TooManyElements {};

/// The most elements one constant may store: a mask of 4096 x 4096, twice.
inline constexpr int64_t maximumStored = int64_t(1) << 25;

/// The most elements of a constant that is computed from smaller ones, such as a mask of queries x keys or a table of
/// positions x frequencies. Larger results remain ops and are computed where they are needed.
inline constexpr int64_t maximumFolded = int64_t(1) << 17;

class ConstantTensor {
public:
  ConstantTensor() = default;
  /// Zeros.
  ConstantTensor(ElementType type, llvm::ArrayRef<int64_t> shape) : ConstantTensor(type, shape, shape) {}
  ConstantTensor(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> stored);
  static ConstantTensor fromFile(const FileTensor &tensor);
  static ConstantTensor ofInts(llvm::ArrayRef<int64_t> values); ///< one-dimensional
  static ConstantTensor ofFloat(double value);                  ///< scalar

  ElementType type = ElementType::Float;
  Shape shape, stored;
  std::vector<int64_t> ints;
  std::vector<double> floats;

  template <typename T> std::vector<T> &data() {
    if constexpr (std::is_same_v<T, double>)
      return floats;
    else
      return ints;
  }
  template <typename T> const std::vector<T> &data() const { return const_cast<ConstantTensor *>(this)->data<T>(); }

  size_t numStored() const { return isFloat(type) ? floats.size() : ints.size(); }
  bool isSplat() const { return numStored() == 1; }
  double asDouble(size_t i) const { return isFloat(type) ? floats[i] : (double)ints[i]; }
  void set(size_t i, double value);

  /// Every element stored (no repeated dimensions).
  ConstantTensor materialized() const;
  /// The same with `newShape`, to which `shape` broadcasts.
  ConstantTensor broadcastTo(llvm::ArrayRef<int64_t> newShape) const;
  /// Stores dimensions along which the tensor is constant only once.
  void compress();
};

} // namespace xlc::onnx

#endif
