// The units of a model: its repeated layers, and the parts before and after them.
#ifndef XLC_UNITS_UNITS_H
#define XLC_UNITS_UNITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Units/Passes.h.inc"
} // namespace xlc

#endif
