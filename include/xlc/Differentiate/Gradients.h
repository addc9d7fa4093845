// One gradient rule per op, in one table. A rule receives the cotangents of an op's results and contributes to those of
// its operands. The driver selects the required cotangents and sums the contributions.
#ifndef XLC_DIFFERENTIATE_GRADIENTS_H
#define XLC_DIFFERENTIATE_GRADIENTS_H

#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"

namespace xlc {

/// A contribution to the cotangent of a value: `value` is the part of the whole at `offsets` (empty: it is the whole).
/// Pieces that tile the whole become a concat instead of a sum of pads.
struct Contribution {
  mlir::Value value;
  llvm::SmallVector<int64_t> offsets;
  graph::ModelUnitAttr unit;
};

/// The interface for rules: create ops (with the forward op's location and unit) and contribute.
class GradientBuilder : public graph::PartOf {
public:
  GradientBuilder(const mlir::OpBuilder &at, mlir::Operation *op) : PartOf(op, at, graph::Spelling::Plain), op(op) {}

  /// Whether the cotangent of operand `index` is used; rules skip unused ones.
  virtual bool isNeeded(unsigned index) const = 0;
  /// Adds `cotangent` to that of operand `index`.
  virtual void contribute(unsigned index, mlir::Value cotangent, llvm::ArrayRef<int64_t> offsets = {}) = 0;

  /// Sums over the dimensions that a broadcast from `type` repeated, so that the result has `type`.
  mlir::Value sumTo(mlir::Value value, mlir::RankedTensorType type);
  /// Reinserts dimensions of size one at `dimensions` and broadcasts them to `type`: the transpose of a reduction.
  mlir::Value unreduce(mlir::Value value, llvm::ArrayRef<int64_t> dimensions, mlir::RankedTensorType type);

protected:
  mlir::Operation *op;
};

/// `cotangents[i]` belongs to result i of `op`; null if that result has no effect.
using GradientRule = mlir::LogicalResult (*)(GradientBuilder &, mlir::Operation *op, mlir::ValueRange cotangents);

struct GradientRow {
  llvm::StringRef op; ///< "graph.add"
  GradientRule rule;  ///< null: no float flows through (comparisons, constants)
};

/// The row of an op, or null.
const GradientRow *findGradient(llvm::StringRef op);

} // namespace xlc

#endif
