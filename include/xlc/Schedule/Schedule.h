// The phase Schedule: the order of actions, and the proof that it does not deadlock.
#ifndef XLC_SCHEDULE_SCHEDULE_H
#define XLC_SCHEDULE_SCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Schedule/Passes.h.inc"
} // namespace xlc

#endif
