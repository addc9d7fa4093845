// Scratch bytes that the library calls of the CPU need, and kernels that take random bits, asked by the compiler's target so
// that the plan holds them.
#ifndef XLC_RUNTIME_WORKSPACE_H
#define XLC_RUNTIME_WORKSPACE_H

#include "xlc/Runtime/LibraryShapes.h"

#include <algorithm>
#include <cstdint>

namespace xlc::runtime {

/// Bytes of workspace a call needs with `threads` threads, a multiple of 64 (0 where it needs none).
int64_t contractWorkspace(const ContractShape &shape, int threads);
int64_t attentionWorkspace(const AttentionShape &shape, int threads);
int64_t convolutionWorkspace(const ConvolutionShape &shape, int threads);

/// A kernel that takes random bits gets them for so many elements at a time, in each thread.
inline constexpr int64_t kRandomBlock = 4096;
inline int64_t randomBlock(int64_t elements) { return std::min(kRandomBlock, (elements + 15) / 16 * 16); }
/// Such a kernel has at most so many ins and outs.
inline constexpr size_t kMostRandomOperands = 16;
/// Bytes for those of a kernel on so many elements.
inline int64_t randomBitsWorkspace(int64_t elements, int threads) {
  return randomBlock(elements) * (int64_t)sizeof(uint32_t) * threads;
}

} // namespace xlc::runtime

#endif
