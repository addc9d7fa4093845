// Masks as intervals: which keys each query may attend to, without a matrix of queries x keys.
//
// A causal mask of 8192 positions has 67 million elements and means "key <= query". Its rows are intervals, and remain
// intervals under comparison of positions, and, or, not, select and arithmetic with scalars. So the definition that an
// exporter built the mask from is recovered in a few passes over the rows.
#ifndef XLC_LIB_RAISE_MASKROWS_H
#define XLC_LIB_RAISE_MASKROWS_H

#include "xlc/Dialect/Graph/Graph.h"
#include <optional>
#include <vector>

namespace xlc {

/// Keys [begin, end); empty where begin == end.
struct KeyInterval {
  int64_t begin = 0, end = 0;
  bool operator==(const KeyInterval &) const = default;
};

/// A tensor over queries and keys (and other dimensions along which it is constant) whose value is `inside` at the keys
/// of each query's interval, `outside` elsewhere. Booleans are 1 and 0.
struct MaskRows {
  std::vector<KeyInterval> rows; ///< one per query
  double inside = 1, outside = 0;
};

/// Reads `mask`, of shape [..., queries, keys] or one that broadcasts to it, as rows; none if its elements are unknown,
/// vary along other dimensions, or do not form intervals.
std::optional<MaskRows> findMaskRows(mlir::Value mask, int64_t queries, int64_t keys);

} // namespace xlc

#endif
