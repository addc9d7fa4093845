// The algorithms of the simulated cuBLASLt. Its heuristic chooses them for one product and the alignment that is
// promised for its addresses, and both are checked when the product runs.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CUBLASLTALGORITHMS_H
#define XLC_LIB_SIMULATE_LIBRARIES_CUBLASLTALGORITHMS_H

#include "Descriptors.h"
#include "Product.h"

#include <chrono>

namespace xlc::simulate {

/// A product as described by its descriptors, without addresses.
struct Described {
  Product product;
  bool hasBias, hasBeside;
  const char *biasAt;
};

/// The content of an Algorithm: its product, and its requirements on addresses and workspace.
struct Recipe {
  uint32_t magic, alignment;
  uint64_t workspace;
  int32_t m, n, k, batch, types;
  bool operator==(const Recipe &) const = default;
};

/// Appends up to `most` algorithms for a product to `choices`; `found` is their number.
void choose(const Described &described, const Attributes &preference, int most, runtime::cublaslt::Choice *choices,
            int *found);
/// The recipe of a chosen algorithm.
Recipe recipeOf(const runtime::cublaslt::Algorithm &algorithm);
/// Whether it was for this product.
bool isFor(const Product &p, Recipe recipe);
/// Checks that the algorithm was chosen for this product, and that addresses and workspace are those promised.
runtime::cublaslt::Status check(const Product &p, const runtime::cublaslt::Algorithm &algorithm, void *workspace,
                                size_t bytes, Recipe &recipe);
/// The time of products with this algorithm in addition to their sums.
std::chrono::milliseconds timeOf(const Recipe &recipe);

} // namespace xlc::simulate

#endif
