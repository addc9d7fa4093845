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

} // namespace xlc

#endif
