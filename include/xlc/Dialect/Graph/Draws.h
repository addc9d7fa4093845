// Dropout in small ops: what keeps an element, and what attention draws its masks from (include/xlc/Runtime/Dropout.h).
//
//   bits                                 random words of the elements of a site
//   kept  = isKept(bits, ratio)          i1
//   y     = select kept, scale x by 1 / (1 - ratio), 0
#ifndef XLC_DIALECT_GRAPH_DRAWS_H
#define XLC_DIALECT_GRAPH_DRAWS_H

#include "xlc/Dialect/Graph/Formula.h"

namespace xlc::graph {

/// Whether elements with these random words, i32, are kept by a Dropout of `ratio`, round(ratio 2^31) > 0.
mlir::Value isKept(Formula &f, mlir::Value words, double ratio);
/// x / (1 - ratio), with one rounding.
mlir::Value scaleKept(Formula &f, mlir::Value x, double ratio);

/// A Dropout as Import writes it.
struct DropoutMatch {
  mlir::Value x, words;
  double ratio;
};
/// The Dropout that `select` ends; none where it is anything else.
std::optional<DropoutMatch> matchDropout(SelectOp select);

/// Attention's draws, [batch, heads, 3] i64: `first`, [batch, heads] i64, beside the key and the subsequence, of no
/// dimensions.
mlir::Value joinDraws(Formula &f, mlir::Value first, mlir::Value key, mlir::Value subsequence);
/// x [batch, heads, queries, keys] as attention drops probabilities: x / (1 - ratio), or 0.
mlir::Value dropScores(Formula &f, mlir::Value x, mlir::Value draws, double ratio);

} // namespace xlc::graph

#endif
