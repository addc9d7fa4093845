// Computed indices by which each row of the batch reads from its own part of a table.
//
//     scores[arange(batch), lengths - 1]     GatherND      place = row * words + clamp(lengths - 1, 0, words - 1)
//
// The table has `words` positions for each row. No other row's are read if the position is row * words + something in
// [0, words): the number of the row comes from a constant or an iota along the batch, and the second term depends on
// the row alone and is bounded, by a clamp if by nothing else.
#ifndef XLC_LIB_IMPORT_OWNPLACES_H
#define XLC_LIB_IMPORT_OWNPLACES_H

#include "xlc/Dialect/Graph/Graph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xlc::onnx {

/// Integers from `low` to `high`. Unbounded if default-initialized as below.
struct Bounds {
  static constexpr int64_t kUnbounded = int64_t(1) << 62;
  int64_t low = -kUnbounded, high = kUnbounded;
};

/// A value that is r * step + something within `rest` for row r of the batch.
struct RowPlaces {
  int64_t step = 0;
  Bounds rest;
  std::optional<int64_t> dim; ///< where the rows lie; none: it is the same for all of them
};

class PlaceFinder {
public:
  /// The dimension along which the rows of a value are independent; none if there is no such dimension.
  using FindRows = llvm::function_ref<std::optional<int64_t>(mlir::Value)>;

  /// `rows`: the size of the batch. `isSame`: whether a value does not depend on the rows.
  PlaceFinder(int64_t rows, FindRows rowsOf, llvm::function_ref<bool(mlir::Value)> isSame)
      : rows(rows), rowsOf(rowsOf), isSame(isSame) {}

  std::optional<RowPlaces> find(mlir::Value value, int depth = 0);

private:
  Bounds boundsOf(mlir::Value value, int depth = 0);
  Bounds computeBounds(mlir::Operation *op, int depth);
  Bounds boundsOfTwo(mlir::Operation *op, int depth);
  std::optional<RowPlaces> findNumbers(graph::ConstantOp constant) const;
  std::optional<RowPlaces> findNumbers(graph::IotaOp iota) const;
  std::optional<RowPlaces> findComputed(mlir::Operation *op, int depth);
  std::optional<RowPlaces> findOwn(mlir::Operation *op, int depth);
  std::optional<RowPlaces> findSum(mlir::Operation *op, int depth);
  std::optional<RowPlaces> findLimited(mlir::Operation *op, int depth);
  std::optional<RowPlaces> findMoved(mlir::Operation *op, int depth);
  /// The operand of a select that is taken everywhere; null if that differs, or is unknown.
  mlir::Value findTaken(graph::SelectOp op, int depth);
  /// The one dimension of the batch's size; none if there is none, or several candidates.
  std::optional<int64_t> dimOfBatch(mlir::Value value) const;

  int64_t rows;
  FindRows rowsOf;
  llvm::function_ref<bool(mlir::Value)> isSame;
  llvm::DenseMap<mlir::Value, Bounds> known;
  llvm::DenseMap<mlir::Value, std::optional<RowPlaces>> found;
};

} // namespace xlc::onnx

#endif
