// The end of @forward: sum of the loss and number of counted targets. See Loss.cpp and CutLoss.cpp.
#ifndef XLC_IMPORT_LOSS_H
#define XLC_IMPORT_LOSS_H

#include "Importer.h"
#include "LossTerms.h"

namespace xlc::onnx {

/// The loss of one micro-batch, a float scalar. `name`: the model's output, or the kind that the spec requests.
struct LossValue {
  mlir::Value value;
  std::string name;
};

/// The results of @forward: contributions of all micro-batches and ranks add up, and the loss is sum / count.
struct Loss {
  mlir::Value sum, count;
  int64_t nominalCount = 0; ///< targets of the global batch, about
  llvm::StringRef scope;    ///< for kLossScope
};

/// Finds the loss among the outputs, or builds the one that the spec requests, which may add an input to `forward`.
/// None after an error.
std::optional<LossValue> findLoss(const Model &model, const Spec &spec, llvm::StringMap<ImportedValue> &values,
                                  mlir::func::FuncOp forward, mlir::OpBuilder &builder, FileDiagnostics &diagnostics);

/// Two small primes that divide no dimension of an initializer or a bound input, as far as there are any.
llvm::SmallVector<int64_t> findUnusedSizes(const Model &model);

/// Converts the loss of `forward` to sum and count, by its terms, which may be those of the same model at another
/// batch; reports an error if it must be cut and cannot be. `importAt` returns the graph of the model at a batch,
/// without a loss if the file does not allow that batch.
Loss cutLoss(const Model &model, const Spec &spec, const LossValue &loss, const LossTerms &terms,
             llvm::function_ref<BatchGraph(int64_t)> importAt, mlir::func::FuncOp forward, mlir::OpBuilder &builder,
             FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
