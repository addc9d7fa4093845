// The sharding rules: how a split of one operand or result of an op goes on to the others.
//
// An op's dimensions belong to factors, as the letters of an einsum. A factor that the results have passes through;
// one that only operands have is summed, and its results are partial. What has no factor (the last dimension of a norm)
// is whole on every rank. The table (FactorTable.cpp) has a row per op of the graph dialect that is not merely elementwise.
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

/// What follows from a seed: the layouts that operands must have, and results then have.
struct Spread {
  llvm::SmallVector<Layout, 6> operands, results;
  bool isSum = false;    ///< results are sums over the split factor
  bool isPlaced = false; ///< what a rank does depends on where its piece lies: it counts or compares places
};

/// Sets of operands, as bits, in which an op is linear while its other operands stay fixed.
using LinearSets = llvm::SmallVector<uint32_t, 2>;

using SpreadRule = std::optional<Spread> (*)(mlir::Operation *, const Seed &);

struct FactorRow {
  llvm::StringLiteral op;
  SpreadRule spread;
  LinearSets (*linear)(mlir::Operation *);
  /// Where the batch goes, if `spread` does not say: tp never splits it, so there are splits that only it has.
  SpreadRule spreadBatch = nullptr;
};

/// The row of an op, or that of all elementwise ops; null where there is none.
const FactorRow *findFactorRow(mlir::OperationName op);

/// What follows from splitting one value of the op; none where the rule does not allow it.
std::optional<Spread> spread(mlir::Operation *op, const Seed &seed);
/// The same for a split of the batch into its rows. None also where a row would be taken by its number.
std::optional<Spread> spreadBatch(mlir::Operation *op, const Seed &seed);
LinearSets getLinearSets(mlir::Operation *op);
/// Whether terms of sums in the operands of a linear set make terms of the results where the op is split so: they lie
/// beside the pieces that they belong to, or nothing is cut and the op only adds and moves.
bool carriesTerms(mlir::Operation *op, const Spread &spread, uint32_t linear);

/// An op whose results only rearrange or repeat elements of its operands, or that has none.
bool isMovement(mlir::Operation *op);
/// One result, of which each element depends on the elements of the operands at the same place.
bool isElementwise(mlir::Operation *op);

/// A constant of zeros, or one in another shape.
bool isZero(mlir::Value value);

/// Rules for ops that change what a split is called (ShapeFactors.cpp).
std::optional<Spread> spreadReshape(mlir::Operation *, const Seed &);
std::optional<Spread> spreadSlice(mlir::Operation *, const Seed &);
std::optional<Spread> spreadConcat(mlir::Operation *, const Seed &);
std::optional<Spread> spreadAttention(mlir::Operation *, const Seed &);

} // namespace xlc::shard

#endif
