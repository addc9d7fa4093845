// The phase Memory: kernels, buffers, offsets.
#ifndef XLC_MEMORY_MEMORY_H
#define XLC_MEMORY_MEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Memory/Passes.h.inc"

namespace exec {
/// Attributes of an exec.program beside its own: where buckets live ({bucket, params, states}, one dictionary each),
/// and where loss and norm of a step stand, if the stage has them.
inline constexpr llvm::StringLiteral kBuckets = "exec.buckets";
inline constexpr llvm::StringLiteral kLoss = "exec.loss";
inline constexpr llvm::StringLiteral kNorm = "exec.norm";
/// Where a rank's index in a group stands, before the first step ({group, place}, one dictionary each); on a slot of a
/// function, the group whose index a run binds to it.
inline constexpr llvm::StringLiteral kIndices = "exec.indices";
inline constexpr llvm::StringLiteral kIndex = "exec.index";
/// Attributes of a function's slots: the name and the cause of the buffer that a run gives it.
inline constexpr llvm::StringLiteral kSlotName = "exec.name";
} // namespace exec

} // namespace xlc

#endif
