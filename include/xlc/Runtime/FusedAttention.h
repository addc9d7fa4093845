// Attention that a GPU's library does in one kernel, without the matrix of scores: which, and with how much memory beside its
// operands. Compiler and runtime ask here.
#ifndef XLC_RUNTIME_FUSEDATTENTION_H
#define XLC_RUNTIME_FUSEDATTENTION_H

#include "xlc/Runtime/DeviceKernels.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <algorithm>

namespace xlc::runtime {

/// Bytes that addresses, strides and rows of q, k, v and what is made of them are multiples of.
constexpr int64_t kFusedAttentionAlignment = 16;
/// Keys are a multiple of this: versions up to 9.15 of the library get the rest of a block wrong, backward.
constexpr int64_t kFusedKeys = 128;
/// Of one alone versions up to 9.26 make its keys' gradients NaN where it sees none (NVIDIA/cudnn-frontend issue 1072).
constexpr int64_t kFewestFusedQueries = 2;
/// Features of a head: the most that all devices from 8.0 on have kernels for, forward and backward.
constexpr int64_t kMostFusedFeatures = 128;

inline bool hasFusedStrides(const HeadStrides &strides, FloatType type) {
  int64_t elements = kFusedAttentionAlignment / bytesOf(type);
  return strides.batch % elements == 0 && strides.position % elements == 0 && strides.head % elements == 0;
}

/// Operands of sixteen bits; each query sees all keys, or those up to its own, which a window may cut off behind, one at least; or
/// those that a condition leaves it, of all or of these. With it, a query that sees none attends to all alike; its `dout` is zero,
/// so its scores may have no gradient (`added`). None that drops: the library draws other numbers, by the layout of its tiles.
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

/// The condition beside the scores of a call, once for what it is repeated over. Causality and the window are in it: if the library masked
/// by itself, a query that sees no key would attend only to the keys up to its own, not to all.
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

/// Workspace of a call, bytes from its begin. `stats`: log-sum-exps as float32, [batch, heads, queries]. Of backward: `dq`, what its
/// blocks add up in float32, [batch, heads, queries, d], and `sums` of out * dout, as `stats`. `bias`: what the condition adds to
/// scores, as float32, [1|batch, 1|heads, 1|queries, keys]. `scratch`: the rest is for what the library asks for beside these.
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

  /// Of all, with what versions 9.14, 9.19 and 9.28 ask for on chips of this capability (unittests/Cuda/FusedAttentionTest.cpp).
  /// Heads that share keys have gradients of their own before these are summed; before 9.0 `dq` is added up elsewhere.
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
