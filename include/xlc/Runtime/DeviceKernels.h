// The kernels of a program for GPUs other than products and generated kernels, for the code that launches them and for
// lib/Lower/Device, which is compiled without a standard library: each kernel's name, its parameters and its grid. A
// kernel takes the addresses of its operands, in the order documented here, and then its parameters, as one struct by
// value. Operands are contiguous.
#ifndef XLC_RUNTIME_DEVICEKERNELS_H
#define XLC_RUNTIME_DEVICEKERNELS_H

#include "xlc/Runtime/Narrow.h"
#include "xlc/Runtime/ScatterKind.h"
#include "xlc/Runtime/Windows.h"

#include <cstdint>

namespace xlc::runtime {

inline constexpr int64_t kDeviceThreads = 256; ///< of a block
inline constexpr int64_t kDeviceWarp = 32;

/// The number of blocks of kDeviceThreads that have this many threads in total. If it is zero, nothing is launched.
inline int64_t blocksFor(int64_t threads) { return (threads + kDeviceThreads - 1) / kDeviceThreads; }

/// Scatter: indices, updates (f32), y. Shapes as in Cpu/ScatterAdd.h. An index outside [0, rows) is a trap.
struct ScatterParameters {
  int64_t outer = 0, distinct = 0, indices = 0, rows = 0, width = 0;
  int64_t adds = 0; ///< whether to add to y; otherwise it is cleared first; y of sixteen bits cannot be added to
  int64_t rowsOfBlock = rowsFor(outer * rows);

  /// The rows of a block: chosen for a grid of a thousand blocks, with at least one row for each warp.
  static int64_t rowsFor(int64_t all) {
    constexpr int64_t blocks = 1024, least = kDeviceThreads / kDeviceWarp;
    return all <= blocks * least ? least : (all + blocks - 1) / blocks;
  }
};
/// Each row of y has one index: name, index, element of y. One block for several rows.
#define XLC_SCATTER_ROWS(KERNEL)                                                                                       \
  KERNEL(xlc_scatter_rows_i32_f32, int32_t, float)                                                                     \
  KERNEL(xlc_scatter_rows_i32_bf16, int32_t, Bf16)                                                                     \
  KERNEL(xlc_scatter_rows_i32_f16, int32_t, Half)                                                                      \
  KERNEL(xlc_scatter_rows_i64_f32, int64_t, float)                                                                     \
  KERNEL(xlc_scatter_rows_i64_bf16, int64_t, Bf16)                                                                     \
  KERNEL(xlc_scatter_rows_i64_f16, int64_t, Half)
inline int64_t blocksOfTable(const ScatterParameters &p) { return (p.rows + p.rowsOfBlock - 1) / p.rowsOfBlock; }
inline int64_t blocksForRows(const ScatterParameters &p) { return p.outer * blocksOfTable(p); }
/// Each element has an index: name, index. One thread for each element.
#define XLC_SCATTER_ELEMENTS(KERNEL)                                                                                   \
  KERNEL(xlc_scatter_elements_i32, int32_t)                                                                            \
  KERNEL(xlc_scatter_elements_i64, int64_t)
inline int64_t blocksForElements(const ScatterParameters &p) { return blocksFor(p.outer * p.rows * p.width); }

/// Scatter into a base: base, indices, updates, y. Shapes as in Cpu/ScatterInto.h. One thread for each element of y,
/// which reads all indices of its list. An index outside [0, rows) is a trap.
struct ScatterIntoParameters {
  int64_t outer, distinct, indices, rows, width;
  int64_t perElement; ///< whether every element of a row has an index of its own
  ScatterKind kind;
};
/// Name, index, element.
#define XLC_SCATTER_INTO(KERNEL)                                                                                       \
  KERNEL(xlc_scatter_into_i32_f32, int32_t, float)                                                                     \
  KERNEL(xlc_scatter_into_i32_i32, int32_t, int32_t)                                                                   \
  KERNEL(xlc_scatter_into_i32_i64, int32_t, int64_t)                                                                   \
  KERNEL(xlc_scatter_into_i64_f32, int64_t, float)                                                                     \
  KERNEL(xlc_scatter_into_i64_i32, int64_t, int32_t)                                                                   \
  KERNEL(xlc_scatter_into_i64_i64, int64_t, int64_t)
inline int64_t blocksForScatterInto(const ScatterIntoParameters &p) { return blocksFor(p.outer * p.rows * p.width); }

/// Max pools, all f32. xlc_max_pool: x, y; one thread for each element of y. xlc_max_pool_backward: x, dy, dx; one
/// thread for each element of dx.
struct MaxPoolParameters {
  int64_t planes;
  Windows windows;
  int64_t adds; ///< whether to add to y or dx
};
#define XLC_MAX_POOLS(KERNEL)                                                                                          \
  KERNEL(xlc_max_pool)                                                                                                 \
  KERNEL(xlc_max_pool_backward)
inline int64_t blocksForPool(const MaxPoolParameters &p) { return blocksFor(p.planes * p.windows.out); }
inline int64_t blocksForPoolBackward(const MaxPoolParameters &p) { return blocksFor(p.planes * p.windows.in); }

/// The matrix of the windows over some channels of one image, f32: [channel x window position, output], 0 for window
/// positions outside the image. xlc_columns: x[channel, in...], columns; one thread for each element of the columns.
/// xlc_from_columns, its transpose: columns, x; each element of x is the sum of the columns' elements that contain it,
/// in the order of window positions; one thread for each element of x. Cuda/ConvolutionSteps.h builds convolutions from
/// them.
struct ColumnsParameters {
  int64_t channels;
  Windows windows;
  int64_t adds; ///< whether to add to x; columns are overwritten
};
#define XLC_COLUMNS(KERNEL)                                                                                            \
  KERNEL(xlc_columns)                                                                                                  \
  KERNEL(xlc_from_columns)
inline int64_t blocksForColumns(const ColumnsParameters &p) {
  return blocksFor(p.channels * p.windows.size * p.windows.out);
}
inline int64_t blocksFromColumns(const ColumnsParameters &p) { return blocksFor(p.channels * p.windows.in); }

/// The ranks' terms of a sum (Fabric/Mover.h's Combination), in the order of the sources, sixteen bits as floats,
/// rounded once; added to the result if requested. One thread for each element; it reads all sources before it writes.
/// The sources are part of the parameters, because their number varies.
struct CombineParameters {
  static constexpr int64_t mostSources = 256; ///< a kernel's parameters are limited to 4 KB
  int64_t first, step, count, runs;
  int64_t sourceCount, adds;
  const char *sources[mostSources];
};
/// Name, operation, element, type in which terms and result are exchanged. The operand: the result.
#define XLC_COMBINES(KERNEL)                                                                                           \
  KERNEL(xlc_sum_f32, Sum, float, float)                                                                               \
  KERNEL(xlc_sum_f64, Sum, double, double)                                                                             \
  KERNEL(xlc_sum_i64, Sum, int64_t, int64_t)                                                                           \
  KERNEL(xlc_sum_i32, Sum, int32_t, int32_t)                                                                           \
  KERNEL(xlc_sum_bf16, Sum, Bf16, Bf16)                                                                                \
  KERNEL(xlc_sum_f16, Sum, Half, Half)                                                                                 \
  KERNEL(xlc_sum_f32_as_bf16, Sum, float, Bf16)                                                                        \
  KERNEL(xlc_sum_f32_as_f16, Sum, float, Half)                                                                         \
  KERNEL(xlc_largest_f32, Largest, float, float)                                                                       \
  KERNEL(xlc_largest_f64, Largest, double, double)                                                                     \
  KERNEL(xlc_largest_i64, Largest, int64_t, int64_t)                                                                   \
  KERNEL(xlc_largest_i32, Largest, int32_t, int32_t)                                                                   \
  KERNEL(xlc_largest_bf16, Largest, Bf16, Bf16)                                                                        \
  KERNEL(xlc_largest_f16, Largest, Half, Half)
inline int64_t blocksToCombine(const CombineParameters &p) { return blocksFor(p.count * p.runs); }

/// Converts elements to another type: from, to. One thread for each.
struct ConvertParameters {
  int64_t count;
};
/// Name, from, to.
#define XLC_CONVERTS(KERNEL)                                                                                           \
  KERNEL(xlc_convert_f32_bf16, float, Bf16)                                                                            \
  KERNEL(xlc_convert_f32_f16, float, Half)                                                                             \
  KERNEL(xlc_convert_bf16_f32, Bf16, float)                                                                            \
  KERNEL(xlc_convert_f16_f32, Half, float)                                                                             \
  KERNEL(xlc_convert_f32_f64, float, double)                                                                           \
  KERNEL(xlc_convert_f64_f32, double, float)
inline int64_t blocksToConvert(const ConvertParameters &p) { return blocksFor(p.count); }

/// The values that a condition adds to scores: condition (bytes, with these strides; a query's keys are adjacent), bias
/// (f32, contiguous), which is 0 for an unmasked key, and else kForbiddenScore. Keys after their query are also masked
/// if `causal`, and keys at a distance of `window` or more if that is not 0. One thread for each element.
struct ConditionParameters {
  int64_t batch, heads, queries, keys;
  int64_t ofBatch, ofHead, ofQuery;
  int64_t causal, window;

  int64_t count() const { return batch * heads * queries * keys; }
};
/// Large enough that every score is negligible beside it. A power of two: a kernel that uses powers of 2 scales scores
/// by log2(e) in a fused multiply-add, and the difference from a row's maximum must stay 0 if all keys are masked.
inline constexpr float kForbiddenScore = -0x1p100F;
#define XLC_CONDITIONS(KERNEL) KERNEL(xlc_condition)
inline int64_t blocksForCondition(const ConditionParameters &p) { return blocksFor(p.count()); }

} // namespace xlc::runtime

#endif
