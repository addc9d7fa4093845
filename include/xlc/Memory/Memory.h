// The phase Memory: kernels, buffers, offsets.
#ifndef XLC_MEMORY_MEMORY_H
#define XLC_MEMORY_MEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {
/// Places the buffers of a program that has its actions, as AssignOffsetsPass does, which knows of no size that is
/// `enough`: then whether the arena is larger is all that is wanted. An arena beyond kLargestArena means that there is no
/// place for them.
void assignOffsets(exec::ProgramOp program, int64_t enough = 0);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Memory/Passes.h.inc"

} // namespace xlc

#endif
