// Attention where a query sees no key, as PyTorch's scaled_dot_product_attention does it. See HiddenRows.cpp.
#ifndef XLC_IMPORT_HIDDENROWS_H
#define XLC_IMPORT_HIDDENROWS_H

#include "ConstantTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// What of the file's attention hides keys, by the calls in PyTorch that nodes came from.
class HiddenRows {
public:
  explicit HiddenRows(const Model &model);

  /// `constant`, which is an input of `node`, with minus infinity where the exporter wrote the lowest number for it; null
  /// where it is as PyTorch has it.
  std::shared_ptr<const ConstantTensor> hide(const Node &node, llvm::StringRef input, const ConstantTensor &constant);
  /// Whether the result of `node` is to be zero where it is no number, and the file does not say so itself.
  bool needsGuard(const Node &node) const;

private:
  llvm::StringSet<> guarded;      ///< calls that have a node which asks for NaN
  llvm::StringSet<> initializers; ///< of names that the exporter made
  llvm::DenseMap<const ConstantTensor *, std::shared_ptr<const ConstantTensor>> hidden; ///< shared by all layers
};

/// Warns of attention that gives zeros where a query sees no key, beside a mask of finite numbers that makes it see all,
/// where nothing names the call and the mask may hide a row. `forward` is raised.
void warnOfHiddenRows(const Model &model, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
