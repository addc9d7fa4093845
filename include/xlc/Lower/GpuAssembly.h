// The inline assembly in code for GPUs. The simulated grid recognizes each instruction by its text.
#ifndef XLC_LOWER_GPUASSEMBLY_H
#define XLC_LOWER_GPUASSEMBLY_H

namespace xlc::lower {

/// Converts one f32, or two of which the second becomes the lower half, to bf16: to nearest, ties to even, with a
/// single NaN.
constexpr char kRoundOne[] = "cvt.rn.bf16.f32 $0, $1;", kRoundTwo[] = "cvt.rn.bf16x2.f32 $0, $1, $2;";

} // namespace xlc::lower

#endif
