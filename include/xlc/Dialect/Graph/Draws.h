// Dropout in small ops: the condition that keeps an element, and the draws of attention's masks
// (include/xlc/Runtime/Dropout.h).
//
//   bits                                 random words of the elements of a site
//   kept  = isKept(bits, ratio)          i1
//   y     = select kept, scale x by 1 / (1 - ratio), 0
#ifndef XLC_DIALECT_GRAPH_DRAWS_H
#define XLC_DIALECT_GRAPH_DRAWS_H

#include "xlc/Dialect/Graph/Formula.h"

namespace xlc::graph {

/// Whether a Dropout of `ratio`, round(ratio 2^31) > 0, keeps the elements with these random words, i32.
mlir::Value isKept(Formula &f, mlir::Value words, double ratio);
/// x / (1 - ratio), with one rounding.
mlir::Value scaleKept(Formula &f, mlir::Value x, double ratio);

/// A Dropout in the form that Import creates.
struct DropoutMatch {
  mlir::Value x, words;
  double ratio;
};
/// The Dropout whose last op is `select`; none if it is not part of one.
std::optional<DropoutMatch> matchDropout(SelectOp select);

/// Attention's draws, [batch, heads, 3] i64: `first`, [batch, heads] i64, joined with the key and the subsequence,
/// which are scalars.
mlir::Value joinDraws(Formula &f, mlir::Value first, mlir::Value key, mlir::Value subsequence);
/// x [batch, heads, queries, keys] after attention's dropout: x / (1 - ratio), or 0.
mlir::Value dropScores(Formula &f, mlir::Value x, mlir::Value draws, double ratio);

} // namespace xlc::graph

#endif
