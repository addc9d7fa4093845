// Which ops of a unit function make a kernel, and which of them a library does.
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

/// Results of a kernel that a GPU can add to what is there: it has a bit for each.
inline constexpr size_t kMostAdded = 32;

/// The passes that ask the target; it must outlive them. Without `fusesAttention` that is products whatever the target has.
std::unique_ptr<mlir::Pass> createNormalizeReductionsPass(const Target &target, bool fusesAttention = true);
std::unique_ptr<mlir::Pass> createFormKernelsPass(const Target &target);
std::unique_ptr<mlir::Pass> createSplitReductionsPass(const Target &target);
std::unique_ptr<mlir::Pass> createMergeSumsPass(const Target &target);
/// All passes of this room, for xlc-opt.
void registerKernelsPasses(const Target &target);

/// Writes named ops of `kernel` as small ones.
void expandNamedOps(mlir::func::FuncOp kernel);

} // namespace xlc

#endif
