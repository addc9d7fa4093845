// Products of bf16 with the processor's instruction for them: see multipliesBf16 (Vector.h).
//
// `vdpbf16ps` adds two terms at a time to each of 16 floats, twice as many as an FMA. A product of two such numbers is
// exact as a float, so sums differ from those of Product.h only in their order. However, the instruction treats
// subnormal numbers, in operands and in sums, as zero.
#ifndef XLC_LIB_RUNTIME_CPU_BF16PRODUCT_H
#define XLC_LIB_RUNTIME_CPU_BF16PRODUCT_H

#include "Packing.h"

namespace xlc::runtime {

/// c[m, n] = a[m, k] b[k, n], of which `packPairs` has packed b; n is a multiple of panelWidth. Rows of a and c are
/// contiguous, `aM` and `cM` elements apart. Only where `multipliesBf16`.
void multiplyPairs(const Bf16 *a, int64_t aM, const float *panels, int64_t m, int64_t n, int64_t k, float *c,
                   int64_t cM);

} // namespace xlc::runtime

#endif
