// Rows of scores that hide all keys, before a softmax. See SettleRows.cpp.
#ifndef XLC_LIB_RAISE_SETTLEROWS_H
#define XLC_LIB_RAISE_SETTLEROWS_H

#include "xlc/Dialect/Graph/Formula.h"

namespace xlc {

/// Scores [..., keys] with zeros in the rows that are minus infinity throughout, and the flags of these rows: [...],
/// and repeated to the shape of the scores.
struct HiddenScores {
  mlir::Value scores, hidden, along;
};

HiddenScores settleRows(graph::Formula &f, mlir::Value scores);

} // namespace xlc

#endif
