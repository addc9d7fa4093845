// The assembly that code for GPUs has. The simulated grid knows each by its text.
#ifndef XLC_LOWER_GPUASSEMBLY_H
#define XLC_LOWER_GPUASSEMBLY_H

namespace xlc::lower {

/// One f32, or two of which the second becomes the lower half, as bf16: to nearest, ties to even, every NaN the same.
constexpr char kRoundOne[] = "cvt.rn.bf16.f32 $0, $1;", kRoundTwo[] = "cvt.rn.bf16x2.f32 $0, $1, $2;";

} // namespace xlc::lower

#endif
