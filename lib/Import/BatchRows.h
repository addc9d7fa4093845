// Tracks the rows of the batch from the inputs on, which determines whether a loss can be cut into ranks and
// micro-batches.
//
// Dimension 0 of every input is the batch. The factor table defines how it moves through an op, as if each row were on
// a rank of its own; so the state of a value with respect to the rows is one of
//
//     Same    it does not depend on them                              parameters, constants
//     Rows    one dimension is cut into them, each made of its own    logits [batch, classes]
//     Sum     a sum over them, of terms that each row has alone       sum of squares, number of labels
//     Terms   sums, quotients of sums, and what is Same, added up     sum / count + penalty
//     Met     anything else: rows depend on each other                scores of all samples against all
//
// A mean is a Sum times 1/rows. So each value has a power: the power of the number of rows with which its factors grow.
// It is found by comparing two imports of one model at different batches, so that a number of the file is never
// mistaken for the number of rows.
#ifndef XLC_LIB_IMPORT_BATCHROWS_H
#define XLC_LIB_IMPORT_BATCHROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Factors/FactorRules.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// The reason why a loss differs from that of the global batch if the batch is cut.
enum class Obstacle {
  Rows,    ///< an op combines different rows, or has no rule in the factor table
  Sum,     ///< it is not linear, and is applied to a sum over the rows
  Divisor, ///< it divides by a sum over the rows through which a gradient flows, or that is no single number
  Factor,  ///< it depends on the number of rows otherwise than a mean does
  Counts,  ///< terms of the loss are divided by different counts
  Step,    ///< it divides by a number of the whole batch that is no sum over the rows
  Fixed,   ///< the file fixes its batch at 1: a dimension of 1 may be any
};

struct RowState {
  enum class Kind { Same, Rows, Sum, Terms, Met } kind = Kind::Same;
  shard::Layout layout;             ///< Rows: which dimension, in how many runs
  uint64_t uniform = 0;             ///< dimensions along which all elements are equal
  std::optional<int> power = 0;     ///< grows as rows^power; none where that cannot be told
  bool isTrained = false;           ///< a gradient flows through it to a trainable parameter
  mlir::Operation *where = nullptr; ///< Met: at which op
  Obstacle why = Obstacle::Rows;

  bool isSummed() const { return kind == Kind::Sum || kind == Kind::Terms; }
};

/// The value of RowState::uniform if all elements are equal.
inline constexpr uint64_t kAllDimensions = ~uint64_t(0);
/// Dimensions along which a constant repeats.
uint64_t findUniform(mlir::DenseElementsAttr elements);
/// The one dimension along which the elements of a constant for each row are those of the previous row plus `step`.
/// With a step, the numbers of the first row are in [0, step): they are positions in a table with `step` positions for
/// each row.
std::optional<shard::Layout> findRows(mlir::DenseElementsAttr elements, int64_t rows, int64_t step);

/// A graph at some batch, for the analysis.
struct BatchGraph {
  mlir::func::FuncOp function; ///< of which inputs have dimension 0 = rows
  int64_t rows = 0;
  mlir::Value loss;
};

class BatchRows {
public:
  /// `other`: the same model at another batch, or the same graph if the file fixes its batch. Nodes named in `local`
  /// use statistics of a micro-batch intentionally, as batch norms do.
  BatchRows(const BatchGraph &graph, const BatchGraph &other, const llvm::StringSet<> &local);

  const RowState &of(mlir::Value value) const { return states.at(value); }
  /// The power of the factor of an op itself (a scale); none if it is unknown.
  std::optional<int> factorOf(mlir::Operation *op) const;

private:
  using Kind = RowState::Kind;
  void visit(mlir::Operation *op);
  RowState met(mlir::Operation *op, Obstacle why) const;
  RowState inferSource(mlir::Operation *op) const;
  /// The states of the results, without the additions of `finish`.
  void inferRows(mlir::Operation *op, llvm::MutableArrayRef<RowState> results) const;
  RowState inferSum(mlir::Operation *op) const;
  bool agrees(mlir::Operation *op, const shard::Spread &found) const;
  /// The result of a gather or a scatter if each row of the batch has its own positions in a table of all rows.
  std::optional<RowState> inferOwnPlaces(mlir::Operation *op) const;
  /// The dimension of `indices`, into `size` positions, along which rows have their own positions.
  std::optional<int64_t> findOwnDim(mlir::Value indices, int64_t size) const;
  /// Whether a value has rows along `dim`, or is the same for all of them.
  bool liesAlong(mlir::Value value, int64_t dim) const;
  bool isQuotientOfStep(mlir::Operation *op) const;
  /// Determines whether a new dimension belongs to the batch, and which one.
  void expand(mlir::Operation *op, RowState &state) const;
  uint64_t uniformOf(mlir::Operation *op) const;
  // BatchPowers.cpp
  std::optional<int> powerOf(mlir::Operation *op) const;
  std::optional<int> powerOfConstant(graph::ConstantOp op) const;
  std::optional<int> powerOfRatio(double ratio) const;

  int64_t rows, otherRows; ///< equal: there is no graph at another batch, and a dimension of that size may be any
  const llvm::StringSet<> &local;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> twins; ///< the same op at the other batch
  llvm::DenseMap<mlir::Value, RowState> states;
};

} // namespace xlc::onnx

#endif
