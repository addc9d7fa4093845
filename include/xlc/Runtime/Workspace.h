// Scratch bytes that the library calls of the CPU need, read by the compiler's target so that the plan holds them.
#ifndef XLC_RUNTIME_WORKSPACE_H
#define XLC_RUNTIME_WORKSPACE_H

#include "xlc/Runtime/LibraryShapes.h"

#include <cstdint>

namespace xlc::runtime {

/// Bytes of workspace a call needs with `threads` threads, a multiple of 64 (0 where it needs none).
int64_t contractWorkspace(const ContractShape &shape, int threads);
int64_t attentionWorkspace(const AttentionShape &shape, int threads);
int64_t convolutionWorkspace(const ConvolutionShape &shape, int threads);

} // namespace xlc::runtime

#endif
