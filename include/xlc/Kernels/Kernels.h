// Which ops of a unit function make a kernel, and which of them a library does.
#ifndef XLC_KERNELS_KERNELS_H
#define XLC_KERNELS_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Kernels/LibraryCalls.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Kernels/Passes.h.inc"

/// Writes named ops of `kernel` as small ones.
void expandNamedOps(mlir::func::FuncOp kernel);

} // namespace xlc

#endif
