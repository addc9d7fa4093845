// Which elements of a parameter a rank owns, element by element: the arithmetic of #dist.layout, written to be read.
#ifndef XLC_LIB_INTERPRET_RANKS_PIECES_H
#define XLC_LIB_INTERPRET_RANKS_PIECES_H

#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Interpret/Tensor.h"

namespace xlc::interpret {

/// Calls visit(inPiece, inWhole) for the elements of the piece of `index` that exist, by their row-major places.
template <class Visit> void forEachOfPiece(dist::LayoutAttr layout, int64_t index, Visit visit) {
  llvm::ArrayRef<int64_t> shape = layout.getShape();
  int64_t rows = countOf(shape.take_front(layout.getDim())) * layout.getOuter();
  int64_t rest = countOf(shape.drop_front(layout.getDim() + 1));
  int64_t block = layout.block(), run = layout.run(), valid = layout.validOf(index); // not for each element again
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < valid; ++i)
      for (int64_t k = 0; k < rest; ++k)
        visit((row * block + i) * rest + k, (row * run + index * block + i) * rest + k);
}

/// A rank's piece of a whole tensor, padded with zeros. No layout: all of it.
template <class E> Tensor<E> pieceOf(const Tensor<E> &whole, dist::LayoutAttr layout, int64_t index) {
  if (!layout)
    return whole;
  Tensor<E> piece(layout.localShape());
  forEachOfPiece(layout, index,
                 [&](int64_t inPiece, int64_t inWhole) { piece.elements[inPiece] = whole.elements[inWhole]; });
  return piece;
}

/// Puts a rank's piece in its place.
template <class E> void placePiece(Tensor<E> &whole, const Tensor<E> &piece, dist::LayoutAttr layout, int64_t index) {
  if (!layout)
    whole.elements = piece.elements;
  else
    forEachOfPiece(layout, index,
                   [&](int64_t inPiece, int64_t inWhole) { whole.elements[inWhole] = piece.elements[inPiece]; });
}

} // namespace xlc::interpret

#endif
