// Attention for targets whose library has none: products, and kernels over the rows of the scores, which are stored in
// memory.
//
//   forward    scores = q k^T      p = softmax(scale scores), lse      out = p v
//   backward   scores = q k^T      p = softmax(scale scores)           dv = p^T dout
//              dp = dout v^T       ds = scale p (dp - sum(p dp))       dq = ds k     dk = ds^T q
//
// If attention drops probabilities, p and dp are masked before they are multiplied or summed; p in ds is not.
//
// Scores are f32 for all types of q, k and v; p and ds, which are operands of products, have the type of q, k and v.
#ifndef XLC_LIB_KERNELS_WRITEATTENTION_H
#define XLC_LIB_KERNELS_WRITEATTENTION_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// Replaces an attention or attention_backward op by the ops of its definition.
void writeAttention(mlir::Operation *op);

/// For a library that recomputes probabilities from log-sum-exps, which are undefined for a query that sees no key.
/// With a condition (i1) beside the scores, the contribution of such queries is removed and, with `uniform`, added
/// separately.
///
///   dout' = sees no key ? 0 : dout      dq, dk, dv' = attention_backward(..., dout')      dv = dv' + sum(dout - dout') / keys
///
/// Without `uniform`, the only form that such a library supports, out is zero there and dv is dv'; the ops have
/// `uniform` after the split.
void splitUnseen(mlir::Operation *op);

} // namespace xlc

#endif
