// The memory that no plan holds, as one named constant.
#ifndef XLC_ESTIMATE_OUTSIDE_H
#define XLC_ESTIMATE_OUTSIDE_H

#include <cstdint>

namespace xlc {

/// Bytes that a training program for the CPU has resident beside its arenas, all ranks together: code, libraries,
/// thread stacks, pages of data, the embedded plan. Measured: 10.5 to 11.8 MiB, from 8 ranks of a tiny model to GPT-2.
inline constexpr int64_t kOutsideBytes = 12 << 20;

} // namespace xlc

#endif
