// One oneDNN matmul of fixed shape on one thread, with scratch from the caller.
#ifndef XLC_LIB_RUNTIME_CPU_LIBRARYPRODUCT_H
#define XLC_LIB_RUNTIME_CPU_LIBRARYPRODUCT_H

#include "Product.h"

#include <memory>

namespace xlc::runtime {

/// The layout of the right operand: by the shape's strides, or in the blocks of `packBlocks`.
enum class RightOperand { Strided, Blocked };

struct LibraryProduct {
  /// Returns null if oneDNN has no kernel for the shape and types that works without allocating, or if xlc's own is
  /// faster.
  static std::unique_ptr<LibraryProduct> tryMake(const ProductShape &shape, RightOperand right, bool bias, bool add,
                                                 bool run);
  ~LibraryProduct();
  int64_t scratch() const;
  void run(const void *a, const void *b, const void *bias, void *c, char *scratch) const;

  struct State;
  std::unique_ptr<State> state;
};

} // namespace xlc::runtime

#endif
