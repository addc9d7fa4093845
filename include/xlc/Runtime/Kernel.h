// What generated code and the runtime agree on. C, so that the compiler can emit it.
#ifndef XLC_RUNTIME_KERNEL_H
#define XLC_RUNTIME_KERNEL_H

#include <cstddef>
#include <cstdint>

/// `version` of the plans that this runtime knows.
enum { XLC_PLAN_VERSION = 21 };

extern "C" {

/// A generated kernel: works on rows [begin, end) of its extent. `operands` are the addresses of ins, then of outs,
/// and then, where it takes random bits, of those of row 0 (of which only [begin, end) are there);
/// `accumulate[i]` is 1 where out i is added to, 0 where it is written. Results do not depend on how rows are split.
typedef void (*XlcKernel)(char *const *operands, int64_t begin, int64_t end, const uint8_t *accumulate);

/// Defined by the generated object: code i of the plan's kernels, images, and the plan itself.
extern const XlcKernel xlc_kernels[];
extern const uint64_t xlc_kernel_count;
/// Code for GPUs. `chip`: "compute_80" for PTX, whose bytes are text and a zero at its end; "sm_90" for a cubin.
struct XlcImage {
  const char *chip;
  const char *bytes;
  uint64_t size; ///< without that zero
};
/// A program has kernels or images.
extern const XlcImage xlc_images[];
extern const uint64_t xlc_image_count;

extern const uint8_t xlc_plan[];
extern const uint64_t xlc_plan_size;
extern const uint64_t xlc_plan_checksum; ///< of the plan's bytes: XXH3 with 64 bits
}

#endif
