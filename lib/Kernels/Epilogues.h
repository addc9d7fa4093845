// The ops between a product and the rounding of its sum, which a library call may include.
//
//     contract -> add bias -> cast                                  y = round(sum + bias)
//     contract [-> add bias] -> add (widened residual) -> cast      y = round(sum + bias + c)
//     contract [-> add bias] -> cast                                h = round(sum + bias)
//                            \-> gelu -> cast                       y = round(gelu(sum + bias))
//     contract -> gelu_backward of widened h -> cast                y = round(gelu'(h) sum)
#ifndef XLC_LIB_KERNELS_EPILOGUES_H
#define XLC_LIB_KERNELS_EPILOGUES_H

#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Runtime/LibraryShapes.h"

namespace xlc {

struct EpilogueOps {
  runtime::Epilogue epilogue;
  llvm::SmallVector<mlir::Operation *, 4> ops; ///< behind the contraction, in their order
  mlir::Value bias, beside;                    ///< null where there is none; `beside` is the residual or h
  mlir::Value result;
};

/// The epilogues that begin at `contract`, longest first.
llvm::SmallVector<EpilogueOps, 2> findEpilogues(graph::ContractOp contract);

} // namespace xlc

#endif
