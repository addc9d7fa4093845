// The interface between generated code and the runtime. C, so that the compiler can emit it.
#ifndef XLC_RUNTIME_KERNEL_H
#define XLC_RUNTIME_KERNEL_H

#include <cstddef>
#include <cstdint>

/// `version` of the plans that this runtime supports.
enum { XLC_PLAN_VERSION = 21 };

extern "C" {

/// A generated kernel, which computes rows [begin, end) of its extent. `operands` are the addresses of ins, then of
/// outs, and then, if it uses random bits, of those of row 0 (of which only [begin, end) exist); `accumulate[i]` is 1
/// if out i is added to, 0 if it is written. Results do not depend on how rows are split.
typedef void (*XlcKernel)(char *const *operands, int64_t begin, int64_t end, const uint8_t *accumulate);

/// Defined by the generated object: code i of the plan's kernels, images, and the plan itself.
extern const XlcKernel xlc_kernels[];
extern const uint64_t xlc_kernel_count;
/// Code for GPUs. `chip`: "compute_80" for PTX, a text that ends with a zero byte; "sm_90" for a cubin.
struct XlcImage {
  const char *chip;
  const char *bytes;
  uint64_t size; ///< without the zero byte
};
/// A program has either kernels or images.
extern const XlcImage xlc_images[];
extern const uint64_t xlc_image_count;

extern const uint8_t xlc_plan[];
extern const uint64_t xlc_plan_size;
extern const uint64_t xlc_plan_checksum; ///< of the plan's bytes: XXH3 with 64 bits
}

#endif
