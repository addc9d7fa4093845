// A loss as a sum of terms, each of which is a mean, a sum, or a quotient of sums over the rows of the batch, or is
// independent of the rows.
//
// The kind of a term determines its value for a global batch that is cut into pieces:
//
//     mean         the mean of the pieces' means
//     sum          the sum of the pieces' sums
//     sum / count  the sum of the pieces' sums by that of their counts
//     the same     itself, once
#ifndef XLC_LIB_IMPORT_LOSSTERMS_H
#define XLC_LIB_IMPORT_LOSSTERMS_H

#include "BatchRows.h"

namespace xlc::onnx {

struct LossTerm {
  enum class Kind { Mean, Sum, Quotient, Same } kind;
  mlir::Value value; ///< in the graph of the analysis; Quotient: the result of a div
};

/// The reason why a loss cannot be cut, and its location.
struct LossObstacle {
  Obstacle why;
  mlir::Operation *where = nullptr;
  mlir::Operation *other = nullptr; ///< Counts: the other term
};

struct LossTerms {
  llvm::SmallVector<LossTerm, 2> terms;
  /// The operands through which the loss consists of its terms; all other operands of these ops are factors of the
  /// terms.
  llvm::SmallVector<mlir::OpOperand *> inner;
  std::optional<LossObstacle> obstacle; ///< there is no global loss of pieces
};

/// Decomposes the loss of `graph`. `other` and `local`: see BatchRows.
LossTerms findLossTerms(const BatchGraph &graph, const BatchGraph &other, const llvm::StringSet<> &local);

/// Whether two values are computed in the same way from the same values.
bool isSameValue(mlir::Value a, mlir::Value b);

/// The value of `to` that corresponds to `value` in its function: by its node and its number among the node's ops of
/// that name. Null if there is none.
mlir::Value findNamesake(mlir::Value value, mlir::func::FuncOp to);

} // namespace xlc::onnx

#endif
