// Attention that a GPU library computes in one kernel, without the matrix of scores: the supported shapes, and the
// memory in addition to the operands. Used by compiler and runtime.
#ifndef XLC_RUNTIME_FUSEDATTENTION_H
#define XLC_RUNTIME_FUSEDATTENTION_H

#include "xlc/Runtime/DeviceKernels.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <algorithm>

namespace xlc::runtime {

/// Required alignment in bytes of addresses, strides and rows of q, k, v and the results.
constexpr int64_t kFusedAttentionAlignment = 16;
/// The number of keys must be a multiple of this: versions up to 9.15 of the library compute the remainder of a block
/// incorrectly in backward.
constexpr int64_t kFusedKeys = 128;
/// With a single query, versions up to 9.26 give NaN for its keys' gradients if all of them are masked
/// (NVIDIA/cudnn-frontend issue 1072).
constexpr int64_t kFewestFusedQueries = 2;
/// Features of a head: the maximum for which all devices from 8.0 on have kernels, forward and backward.
constexpr int64_t kMostFusedFeatures = 128;

inline bool hasFusedStrides(const HeadStrides &strides, FloatType type) {
  int64_t elements = kFusedAttentionAlignment / bytesOf(type);
  return strides.batch % elements == 0 && strides.position % elements == 0 && strides.head % elements == 0;
}

/// Supported: operands of sixteen bits, without dropout, because the library draws other numbers, by the layout of its
/// tiles. Each query attends to all keys, or to those up to its own, of which a window may exclude earlier ones but
/// keeps at least one. A condition may mask any of these. With a condition, a query whose keys are all masked attends
/// to all uniformly; its `dout` is zero, so its scores may have no gradient (`added`).
inline bool isFusedAttention(const AttentionShape &s) {
  int64_t elements = kFusedAttentionAlignment / bytesOf(s.type);
  bool hasSizes = s.keys % kFusedKeys == 0 && s.queries >= kFewestFusedQueries && s.d % elements == 0 &&
                  s.e % elements == 0 && std::max(s.d, s.e) <= kMostFusedFeatures;
  bool hasMask = s.biasKind == AttentionBias::None ? (s.causal ? s.queries == s.keys : s.window == 0)
                                                   : s.biasKind == AttentionBias::Allow && s.uniform && !s.added;
  bool hasLayout = hasFusedStrides(s.q, s.type) && hasFusedStrides(s.k, s.type) && hasFusedStrides(s.v, s.type) &&
                   hasFusedStrides(s.out, s.type);
  bool hasGradients = !s.backward || (hasFusedStrides(s.dout, s.type) && hasFusedStrides(s.dq, s.type) &&
                                      hasFusedStrides(s.dk, s.type) && hasFusedStrides(s.dv, s.type));
  return s.type != FloatType::F32 && s.ratio == 0 && hasSizes && hasMask && hasLayout && hasGradients;
}

/// The condition of a call, in addition to its scores, without the dimensions over which it is broadcast. Includes
/// causality and the window: if the library applied these, a query whose keys are all masked would attend only to the
/// keys up to its own.
inline ConditionParameters conditionOf(const AttentionShape &s) {
  bool isByQuery = s.bias.query || s.causal || s.window;
  return {s.bias.batch ? s.batch : 1,
          s.bias.head ? s.heads : 1,
          isByQuery ? s.queries : 1,
          s.keys,
          s.bias.batch,
          s.bias.head,
          s.bias.query,
          s.causal,
          s.window};
}

/// Workspace of a call, in bytes from its start. `stats`: log-sum-exps as float32, [batch, heads, queries]. For
/// backward: `dq`, accumulated by its blocks in float32, [batch, heads, queries, d], and `sums` of out * dout, as
/// `stats`. `bias`: the values that the condition adds to scores, as float32, [1|batch, 1|heads, 1|queries, keys].
/// `scratch`: the remainder, which the library requests in addition.
struct FusedAttentionWorkspace {
  int64_t stats = 0, dq = 0, sums = 0, bias = 0, scratch = 0;

  explicit FusedAttentionWorkspace(const AttentionShape &s) {
    auto place = [&](int64_t size) {
      int64_t begin = scratch;
      scratch = (scratch + size + kLine - 1) / kLine * kLine;
      return begin;
    };
    stats = place(bytesOfRows(s));
    if (s.backward) {
      dq = place(bytesOfRows(s) * s.d);
      sums = place(bytesOfRows(s));
    }
    if (s.biasKind != AttentionBias::None)
      bias = place(conditionOf(s).count() * bytesOf(FloatType::F32));
  }

  /// The total, with the requirements of versions 9.14, 9.19 and 9.28 on chips of this capability
  /// (unittests/Cuda/FusedAttentionTest.cpp). Heads that share keys have separate gradients before these are summed;
  /// before 9.0 `dq` is accumulated elsewhere.
  static int64_t bytes(const AttentionShape &s, int64_t capability) {
    constexpr int64_t least = 1 << 20, hopper = 90;
    int64_t scratch = least;
    if (s.backward && s.groups != s.heads)
      scratch += s.batch * s.heads * s.keys * (s.d + s.e) * bytesOf(s.type);
    if (s.backward && capability < hopper)
      scratch += bytesOfRows(s) * s.d;
    return FusedAttentionWorkspace(s).scratch + scratch;
  }

private:
  static constexpr int64_t kLine = 256;
  static int64_t bytesOfRows(const AttentionShape &s) {
    return s.batch * s.heads * s.queries * bytesOf(FloatType::F32);
  }
};

} // namespace xlc::runtime

#endif
