// Scratch bytes of the CPU's library calls. The compiler's target reads them, so that the plan contains them.
#ifndef XLC_RUNTIME_WORKSPACE_H
#define XLC_RUNTIME_WORKSPACE_H

#include "xlc/Runtime/LibraryShapes.h"

#include <cstdint>

namespace xlc::runtime {

/// Bytes of workspace of a call with `threads` threads, a multiple of 64 (0 if it uses none).
int64_t contractWorkspace(const ContractShape &shape, int threads);
int64_t attentionWorkspace(const AttentionShape &shape, int threads);
int64_t convolutionWorkspace(const ConvolutionShape &shape, int threads);

} // namespace xlc::runtime

#endif
