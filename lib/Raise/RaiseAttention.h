// Reports ops that resemble attention but were not raised, because their scores cost memory.
#ifndef XLC_LIB_RAISE_RAISEATTENTION_H
#define XLC_LIB_RAISE_RAISEATTENTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

struct UnraisedAttention {
  graph::SoftmaxOp softmax;
  std::string reason;
};

/// Each softmax that a product multiplies, in program order, and the reason why it was not raised.
llvm::SmallVector<UnraisedAttention> findUnraisedAttentions(mlir::func::FuncOp function);

} // namespace xlc

#endif
