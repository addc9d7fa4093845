// What looks like an attention and was not raised: for the user, who pays for its scores.
#ifndef XLC_LIB_RAISE_RAISEATTENTION_H
#define XLC_LIB_RAISE_RAISEATTENTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

struct UnraisedAttention {
  graph::SoftmaxOp softmax;
  std::string reason;
};

/// Each softmax that a product multiplies, in program order, and why it stayed.
llvm::SmallVector<UnraisedAttention> findUnraisedAttentions(mlir::func::FuncOp function);

} // namespace xlc

#endif
