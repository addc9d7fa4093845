// Which elements of a parameter a tensor-parallel rank owns, as `dist.layout` says.
#ifndef XLC_LIB_INTERPRET_PIECES_H
#define XLC_LIB_INTERPRET_PIECES_H

#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Interpret/Tensor.h"

namespace xlc::interpret {

/// Calls visit(place in the whole, place in the piece) for every element that the rank of `index` in the layout's group
/// owns. What a short last block lacks is not visited.
template <class Visit> void forEachOwned(dist::LayoutAttr layout, int64_t index, Visit visit) {
  llvm::ArrayRef<int64_t> shape = layout.getShape().asArrayRef();
  int64_t above = countOf(shape.take_front(layout.getDim())) * layout.getOuter();
  int64_t below = countOf(shape.drop_front(layout.getDim() + 1)), run = layout.run(), block = layout.block();
  for (int64_t a = 0; a < above; ++a)
    for (int64_t i = 0; i < layout.validOf(index); ++i)
      for (int64_t b = 0; b < below; ++b)
        visit((a * run + index * block + i) * below + b, (a * block + i) * below + b);
}

/// The piece of a rank; padding is zero. No layout: all of it.
template <class E> Tensor<E> pieceOf(const Tensor<E> &whole, dist::LayoutAttr layout, int64_t index) {
  if (!layout)
    return whole;
  Tensor<E> piece(layout.localShape());
  forEachOwned(layout, index, [&](int64_t from, int64_t to) { piece.elements[to] = whole.elements[from]; });
  return piece;
}

/// Puts a rank's piece back to its places.
template <class E> void placePiece(Tensor<E> &whole, dist::LayoutAttr layout, int64_t index, const Tensor<E> &piece) {
  if (layout)
    forEachOwned(layout, index, [&](int64_t to, int64_t from) { whole.elements[to] = piece.elements[from]; });
  else
    whole.elements = piece.elements;
}

} // namespace xlc::interpret

#endif
