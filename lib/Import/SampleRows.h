// Tracks the samples of a micro-batch in a value: from dimension 0 of the inputs, by the rules of the factor table.
#ifndef XLC_LIB_IMPORT_SAMPLEROWS_H
#define XLC_LIB_IMPORT_SAMPLEROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Factors/Layout.h"

namespace xlc::onnx {

class SampleRows {
public:
  /// `rows`: samples of a micro-batch.
  explicit SampleRows(int64_t rows) : rows(rows) {}

  struct Lie {
    shard::Layout layout; ///< which dimension is cut into the samples, in how many runs; not split: none
    bool isKnown = true;
    bool hasInput = false; ///< it depends on an input
  };
  const Lie &of(mlir::Value value);

private:
  Lie infer(mlir::Operation *op) const;
  Lie ofArgument(mlir::BlockArgument argument) const;

  int64_t rows;
  llvm::DenseMap<mlir::Value, Lie> known;
};

/// The numbers of the samples, as an argument of the function under construction; added if the function has none.
mlir::Value sampleInput(mlir::Block &entry, int64_t rows);

} // namespace xlc::onnx

#endif
