// Raises groups of ops, as written by exporters, to single ops.
#ifndef XLC_RAISE_RAISE_H
#define XLC_RAISE_RAISE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

#endif
