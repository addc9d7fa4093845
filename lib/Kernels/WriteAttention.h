// Attention for targets whose library has none: products, and kernels over the rows of the scores, which then lie in memory.
//
//   forward    scores = q k^T      p = softmax(scale scores), lse      out = p v
//   backward   scores = q k^T      p = softmax(scale scores)           dv = p^T dout
//              dp = dout v^T       ds = scale p (dp - sum(p dp))       dq = ds k     dk = ds^T q
//
// Where attention drops probabilities, p and dp are masked before they are multiplied or summed; p in ds is not.
//
// Scores are f32 whatever q, k and v are; p and ds, which are multiplied, have their type.
#ifndef XLC_LIB_KERNELS_WRITEATTENTION_H
#define XLC_LIB_KERNELS_WRITEATTENTION_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// Writes the ops that an attention or attention_backward stands for in its place.
void writeAttention(mlir::Operation *op);

/// For a library that makes probabilities again from log-sum-exps, which a query that sees no key has none of: with
/// a condition (i1) beside the scores, what such queries give is taken out and, with `uniform`, added beside it.
///
///   dout' = sees no key ? 0 : dout      dq, dk, dv' = attention_backward(..., dout')      dv = dv' + sum(dout - dout') / keys
///
/// Without `uniform`, which such a library has alone, out is zero there and dv is dv'; the ops have `uniform` then.
void splitUnseen(mlir::Operation *op);

} // namespace xlc

#endif
