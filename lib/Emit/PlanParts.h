// The parts of the plan that are read from the IR: calls and kernels (PlanCalls.cpp), steps (PlanActions.cpp).
#ifndef XLC_LIB_EMIT_PLANPARTS_H
#define XLC_LIB_EMIT_PLANPARTS_H

#include "xlc/Emit/Emit.h"
#include <map>

namespace xlc {

/// Fills in kernels and functions; `functions` receives the number of each function by name.
mlir::LogicalResult fillFunctions(mlir::ModuleOp module, std::map<llvm::StringRef, unsigned> &functions,
                                  plan::PlanT &plan);

/// Appends the program of one stage with buffers and states, but without actions.
mlir::FailureOr<plan::ProgramT *> fillHeld(exec::ProgramOp program, plan::PlanT &plan);

/// Appends the program of one stage.
mlir::LogicalResult fillProgram(exec::ProgramOp program, const std::map<llvm::StringRef, unsigned> &functions,
                                plan::PlanT &plan);

} // namespace xlc

#endif
