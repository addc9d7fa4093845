// The partition of a unit function into kernels, and the ops that a library executes.
#ifndef XLC_KERNELS_KERNELS_H
#define XLC_KERNELS_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Target/Target.h"

namespace xlc {
#define GEN_PASS_DECL
#include "xlc/Kernels/Passes.h.inc"

/// The number of results of a GPU kernel that can be accumulated: there is a bit for each.
inline constexpr size_t kMostAdded = 32;

/// The passes that query a target, which must outlive them. Without `fusesAttention`, attention becomes products on all
/// targets.
std::unique_ptr<mlir::Pass> createNormalizeReductionsPass(const Target &target, bool fusesAttention = true);
std::unique_ptr<mlir::Pass> createFormKernelsPass(const Target &target);
std::unique_ptr<mlir::Pass> createSplitReductionsPass(const Target &target);
std::unique_ptr<mlir::Pass> createMergeSumsPass(const Target &target);
/// Registers all passes of this folder, for xlc-opt.
void registerKernelsPasses(const Target &target);

/// Expands the named ops of `kernel` into small ops.
void expandNamedOps(mlir::func::FuncOp kernel);

} // namespace xlc

#endif
