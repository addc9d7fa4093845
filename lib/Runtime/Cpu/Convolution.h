// Convolution and its two gradients, without allocating, by products of weights and windows.
#ifndef XLC_LIB_RUNTIME_CPU_CONVOLUTION_H
#define XLC_LIB_RUNTIME_CPU_CONVOLUTION_H

#include "xlc/Runtime/Workspace.h"

namespace xlc::runtime {

/// Operands of a convolution; the one that its kind computes is the result.
struct ConvolutionOperands {
  float *x, *w, *y;
};

/// The number of independent pieces of the result. Threads may compute them in any order: the bits do not depend on it.
int64_t convolutionItems(const ConvolutionShape &shape);
/// The bytes of scratch for one thread, a multiple of 64.
int64_t convolutionScratch(const ConvolutionShape &shape);
/// Computes item `item`, or adds it to the result.
void runConvolution(const ConvolutionShape &shape, const ConvolutionOperands &operands, int64_t item, bool add,
                    char *scratch);

} // namespace xlc::runtime

#endif
