// A large product of bf16 whose right operand is packed in advance, in one or several pieces.
//
// oneDNN packs operands that it cannot multiply in place: in each call, and so once for each thread, and again for
// blocks of rows. Threads that share a right operand therefore pack it together and then each multiply their own rows.
// A deep operand, such as that of a vocabulary's gradient, is packed some terms at a time, so that it stays in the
// cache and requires little workspace:
//
//            piece 0    piece 1             rows of a that do not lie as oneDNN takes them, since they are stored by
//   c  =  a [       ]  [       ]  b piece 0     columns, or are cut in pieces, are brought together in L2 first
//                                 b piece 1     c of sixteen bits is summed aside as floats and rounded once
#ifndef XLC_LIB_RUNTIME_CPU_PACKEDPRODUCT_H
#define XLC_LIB_RUNTIME_CPU_PACKEDPRODUCT_H

#include "LibraryProduct.h"

namespace xlc::runtime {

/// The number of terms of the right operand that are packed at a time; 0 if it must not be packed.
int64_t packedTerms(const ProductShape &shape, bool bias);

class PackedProduct {
public:
  /// Returns null if oneDNN has no kernel for it.
  static std::unique_ptr<PackedProduct> tryMake(const ProductShape &shape, int64_t terms, bool bias, bool add,
                                                bool run);

  int64_t scratch() const;

  /// Computes the contribution of one piece, whose blocks `packBlocks` has written; pieces must run in order. The first
  /// one writes c, or adds to it; a sixteen-bit c is complete after the last.
  void run(int64_t piece, const void *a, const void *blocks, const void *bias, void *c, char *scratch) const;

private:
  struct Products {
    std::unique_ptr<LibraryProduct> whole, rest; ///< of `rows` rows; of the last ones, where they are fewer
  };
  PackedProduct(const ProductShape &shape, int64_t terms);
  int64_t pieces() const { return (shape.k + terms - 1) / terms; }
  int64_t termsOf(int64_t piece) const { return std::min(terms, shape.k - piece * terms); }
  bool tryAdd(int64_t piece, bool bias, bool add, bool run);
  const Products &productsOf(int64_t piece) const;
  const void *gatherRows(int64_t piece, const void *a, int64_t row, int64_t count, char *to) const;

  ProductShape shape;
  int64_t terms, rows;
  int64_t gatheredBytes = 0, asideBytes = 0; ///< of scratch, where rows of a are brought together, and c is summed
  std::vector<Products> products;            ///< for the first piece, those between, and the last
};

} // namespace xlc::runtime

#endif
