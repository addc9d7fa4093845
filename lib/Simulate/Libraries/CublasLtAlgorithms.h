// How the simulated cuBLASLt does products: by algorithms that its heuristic chooses for one product and what is promised
// of its addresses, and that are held to it when the product is done.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_CUBLASLTALGORITHMS_H
#define XLC_LIB_SIMULATE_LIBRARIES_CUBLASLTALGORITHMS_H

#include "Descriptors.h"
#include "Product.h"

#include <chrono>

namespace xlc::simulate {

/// A product as the descriptors say it, without addresses.
struct Described {
  Product product;
  bool hasBias, hasBeside;
  const char *biasAt;
};

/// What an Algorithm holds: what it is for, and what it wants of addresses and workspace.
struct Recipe {
  uint32_t magic, alignment;
  uint64_t workspace;
  int32_t m, n, k, batch, types;
  bool operator==(const Recipe &) const = default;
};

/// Appends algorithms for a product to `choices`, of which there are `found`, up to `most`.
void choose(const Described &described, const Attributes &preference, int most, runtime::cublaslt::Choice *choices,
            int *found);
/// What an algorithm is that was chosen.
Recipe recipeOf(const runtime::cublaslt::Algorithm &algorithm);
/// Whether it was for this product.
bool isFor(const Product &p, Recipe recipe);
/// Whether the algorithm was chosen for this product, and addresses and workspace are what it was told.
runtime::cublaslt::Status check(const Product &p, const runtime::cublaslt::Algorithm &algorithm, void *workspace,
                                size_t bytes, Recipe &recipe);
/// How long products take by this algorithm beside their sums.
std::chrono::milliseconds timeOf(const Recipe &recipe);

} // namespace xlc::simulate

#endif
