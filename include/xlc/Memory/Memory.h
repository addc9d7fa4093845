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
/// Places the buffers of a program that has its actions, as AssignOffsetsPass does, which knows of no size that is
/// `enough`: then whether the arena is larger is all that is wanted. An arena beyond kLargestArena means that there is no
/// place for them. Offsets and the arena's size are multiples of `alignment`.
void assignOffsets(exec::ProgramOp program, int64_t alignment, int64_t enough = 0);

#define GEN_PASS_DECL
#include "xlc/Memory/Passes.h.inc"

/// The pass that asks the target, which must outlive it; `threads` are those of a rank.
std::unique_ptr<mlir::Pass> createLowerToExecPass(const Target &target, int64_t threads = 1);
/// The pass with a device that need not be known by name.
std::unique_ptr<mlir::Pass> createAssignWindowsPass(const Device &device, int64_t threads, bool gathers);
/// All passes of this room, for xlc-opt.
void registerMemoryPasses(const Target &target);

} // namespace xlc

#endif
