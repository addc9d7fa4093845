// The sharding rules: how a split of one operand or result of an op propagates to the others.
//
// An op's dimensions belong to factors, like the letters of an einsum. A factor of the results is propagated; a factor
// only of operands is summed, and the results are partial. A dimension without a factor (the last dimension of a norm)
// is whole on every rank. The table (FactorTable.cpp) has a row per op of the graph dialect that is not merely
// elementwise.
#ifndef XLC_FACTORS_FACTORRULES_H
#define XLC_FACTORS_FACTORRULES_H

#include "xlc/Factors/Layout.h"

namespace xlc::shard {

/// A split of one value of an op; values are numbered operands first, then results.
struct Seed {
  unsigned value;
  Layout layout;
  int64_t tp;
};

/// The consequences of a seed: the required layouts of operands, and the resulting layouts of results.
struct Spread {
  llvm::SmallVector<Layout, 6> operands, results;
  bool isSum = false; ///< results are sums over the split factor
  /// the computation of a rank depends on the position of its piece: it counts or compares positions
  bool isPlaced = false;
};

/// Sets of operands, as bits, in which an op is linear while its other operands are fixed.
using LinearSets = llvm::SmallVector<uint32_t, 2>;

using SpreadRule = std::optional<Spread> (*)(mlir::Operation *, const Seed &);

struct FactorRow {
  llvm::StringLiteral op;
  SpreadRule spread;
  LinearSets (*linear)(mlir::Operation *);
  /// The propagation of the batch, if `spread` does not define it: tp never splits the batch, so some splits apply only
  /// to it.
  SpreadRule spreadBatch = nullptr;
};

/// The row of an op, or that of all elementwise ops; null if there is none.
const FactorRow *findFactorRow(mlir::OperationName op);

/// The consequences of splitting one value of the op; none if the rule does not allow the split.
std::optional<Spread> spread(mlir::Operation *op, const Seed &seed);
/// The same for a split of the batch into its rows. None also if a row would be selected by its number.
std::optional<Spread> spreadBatch(mlir::Operation *op, const Seed &seed);
LinearSets getLinearSets(mlir::Operation *op);
/// Whether terms of sums in the operands of a linear set give terms of the results under this split: they are located
/// with the pieces that they belong to, or nothing is cut and the op only adds and moves.
bool carriesTerms(mlir::Operation *op, const Spread &spread, uint32_t linear);

/// An op whose results only rearrange or repeat elements of its operands, or that has no operands.
bool isMovement(mlir::Operation *op);
/// One result, of which each element depends on the elements of the operands at the same position.
bool isElementwise(mlir::Operation *op);

/// A constant of zeros, or one in another shape.
bool isZero(mlir::Value value);

/// Rules for ops that change the dimension of a split (ShapeFactors.cpp).
std::optional<Spread> spreadReshape(mlir::Operation *, const Seed &);
std::optional<Spread> spreadSlice(mlir::Operation *, const Seed &);
std::optional<Spread> spreadConcat(mlir::Operation *, const Seed &);
std::optional<Spread> spreadAttention(mlir::Operation *, const Seed &);

} // namespace xlc::shard

#endif
