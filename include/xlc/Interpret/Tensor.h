// Tensors of the reference interpreter: a shape and its elements in row-major order.
//
// Every op that only moves elements (broadcast, transpose, slice, reduce, ...) is a walk over the positions of one
// shape with a stride per dimension into each tensor concerned. There is one loop, `forEachPosition`, and the ops
// differ only in their strides.
#ifndef XLC_INTERPRET_TENSOR_H
#define XLC_INTERPRET_TENSOR_H

#include "xlc/Interpret/Element.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <variant>
#include <vector>

namespace xlc::interpret {

using Shape = llvm::SmallVector<int64_t, 4>;

inline int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

template <class T> struct Tensor {
  Shape shape;
  std::vector<T> elements;

  Tensor() = default;
  explicit Tensor(llvm::ArrayRef<int64_t> shape, T value = T()) : shape(shape), elements(countOf(shape), value) {}
};

/// Integers and booleans are integers in every arithmetic.
using Integers = Tensor<int64_t>;

/// The content of an SSA value of the program.
template <class E> using Datum = std::variant<Tensor<E>, Integers>;

/// a += b, element by element.
template <class E> void addTo(Datum<E> &a, const Datum<E> &b) {
  std::visit(
      [&](auto &sum) {
        const auto &terms = std::get<std::decay_t<decltype(sum)>>(b).elements;
        for (size_t i = 0; i < sum.elements.size(); ++i)
          sum.elements[i] += terms[i];
      },
      a);
}

/// Elements to step over per dimension.
inline Shape stridesOf(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Calls visit(offsets) for every position of `shape` in row-major order, where offsets[n] is
/// first[n] + the position times strides[n].
template <size_t N, class Visit>
void forEachPosition(llvm::ArrayRef<int64_t> shape, const std::array<Shape, N> &strides, std::array<int64_t, N> first,
                     Visit visit) {
  if (shape.empty()) {
    visit(first);
    return;
  }
  int64_t inner = shape.back(), left = countOf(shape); // outer dimensions are stepped rarely
  Shape position(shape.size(), 0);
  std::array<int64_t, N> steps, offsets = first;
  for (size_t n = 0; n < N; ++n)
    steps[n] = strides[n].back();
  for (; left > 0; left -= inner) {
    auto at = offsets;
    for (int64_t i = 0; i < inner; ++i) {
      visit(at);
      for (size_t n = 0; n < N; ++n)
        at[n] += steps[n];
    }
    for (size_t d = shape.size() - 1; d-- > 0;) {
      for (size_t n = 0; n < N; ++n)
        offsets[n] += strides[n][d];
      if (++position[d] < shape[d])
        break;
      for (size_t n = 0; n < N; ++n)
        offsets[n] -= strides[n][d] * shape[d];
      position[d] = 0;
    }
  }
}

} // namespace xlc::interpret

#endif
