// Gives attention the semantics of PyTorch's scaled_dot_product_attention where a query sees no key. See
// HiddenRows.cpp.
#ifndef XLC_IMPORT_HIDDENROWS_H
#define XLC_IMPORT_HIDDENROWS_H

#include "ConstantTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// The masks of the file's attention, by the calls in PyTorch that nodes came from.
class HiddenRows {
public:
  explicit HiddenRows(const Model &model);

  /// `constant`, an input of `node`, with minus infinity where the exporter wrote the lowest number instead; null if it
  /// already equals PyTorch's.
  std::shared_ptr<const ConstantTensor> hide(const Node &node, llvm::StringRef input, const ConstantTensor &constant);
  /// Whether NaN results of `node` must become zero, and the file has no node for that.
  bool needsGuard(const Node &node) const;

private:
  llvm::StringSet<> guarded;      ///< calls that have a node which asks for NaN
  llvm::StringSet<> initializers; ///< of names that the exporter made
  llvm::DenseMap<const ConstantTensor *, std::shared_ptr<const ConstantTensor>> hidden; ///< shared by all layers
};

/// Warns of attention whose query gets zeros if it sees no key, although a mask of finite numbers makes it see all
/// keys, if no call is named and the mask may hide a row. Requires a raised `forward`.
void warnOfHiddenRows(const Model &model, mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
