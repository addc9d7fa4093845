// The phase Memory: kernels, buffers, offsets.
#ifndef XLC_MEMORY_MEMORY_H
#define XLC_MEMORY_MEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Estimate/Clock.h"
#include "xlc/Target/Target.h"

namespace xlc {
/// Places the buffers of a program, whose actions must exist, like AssignOffsetsPass. The search stops at an arena of
/// size `enough`, which suits callers that only compare the size with it; the pass has no such limit. An arena larger
/// than kLargestArena means that no placement was found. Offsets and the arena's size are multiples of `alignment`.
void assignOffsets(exec::ProgramOp program, int64_t alignment, int64_t enough = 0);

#define GEN_PASS_DECL
#include "xlc/Memory/Passes.h.inc"

/// The pass for a target, which must outlive it. `threads`: threads of a rank.
std::unique_ptr<mlir::Pass> createLowerToExecPass(const Target &target, int64_t threads = 1);
/// The pass for a device that need not be in the table.
std::unique_ptr<mlir::Pass> createAssignWindowsPass(const Device &device, int64_t threads, bool gathers);
/// Registers all passes of this folder, for xlc-opt.
void registerMemoryPasses(const Target &target);

} // namespace xlc

#endif
