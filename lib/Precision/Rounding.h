// Decides which values of @micro_batch are rounded; InsertCasts.cpp acts.
#ifndef XLC_LIB_PRECISION_ROUNDING_H
#define XLC_LIB_PRECISION_ROUNDING_H

#include "xlc/Precision/Precision.h"

namespace xlc {

/// The values of a function of one block that have a 16-bit type, by their definitions and users:
///
///   rounded      results of products and named ops; operands of products; logits; what is read more than once, by
///                another unit or by backward, of what depends on parameters or data
///   not rounded  constants and what follows from them and from integers; sums over elements and what follows from them
///                alone (statistics); what lies between the last product and the loss, and on the way back; gradients
///                of parameters, where the optimizer reads f32; extremes (x.max()), whose gradient looks for them
///                in x; the residual stream, where the policy says so
class Rounding {
public:
  struct Policy {
    const llvm::DenseMap<mlir::Attribute, mlir::Type> &gradients; ///< as @update reads them, by parameter; else f32
    bool wideStream = false;
  };
  Rounding(mlir::func::FuncOp function, const Policy &policy);

  bool isRounded(mlir::Value value) const { return rounded.contains(value); }
  /// Whether the value is a contribution to a gradient of f32, or is used only to compute one.
  bool isGradient(mlir::Value value) const { return gradients.contains(value); }

private:
  void findActivations(mlir::func::FuncOp function);
  void findLoss(mlir::func::FuncOp function);
  void findStream(mlir::func::FuncOp function);
  void findExtremes(mlir::func::FuncOp function);
  void findGradients(mlir::func::FuncOp function, const llvm::DenseMap<mlir::Attribute, mlir::Type> &types);
  bool rounds(mlir::OpResult result, PrecisionClass is) const;
  /// Marks the operands that the op requires to be rounded.
  void demand(mlir::Operation *op);

  llvm::DenseSet<mlir::Value> rounded, gradients;
  llvm::DenseSet<mlir::Value> activations; ///< floats that depend on parameters or data by more than statistics
  llvm::DenseSet<mlir::Value> stream;      ///< stays f32 whoever reads it; products round it for themselves
  llvm::DenseSet<mlir::Value> exact;       ///< extremes, which stay f32 likewise
  llvm::DenseSet<mlir::Operation *> loss;  ///< behind the last product, and before the first of backward
};

} // namespace xlc

#endif
