// The phase DataParallel: buckets, and the actions of every rank in a step.
#ifndef XLC_DATAPARALLEL_DATAPARALLEL_H
#define XLC_DATAPARALLEL_DATAPARALLEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/DataParallel/Passes.h.inc"
} // namespace xlc

#endif
