// The pass list of the phase Import and its gate.
#ifndef XLC_IMPORT_PASSES_H
#define XLC_IMPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// The pass list of the phase after the graph is built. `raise`: match named ops; otherwise expand them.
void buildImportPipeline(mlir::OpPassManager &manager, bool raise, bool cutsBlocks);

/// The gate: every op of @forward is of the graph dialect, has static shapes, a source name and a unit, and the
/// instances of a unit class are equal.
mlir::LogicalResult verifyImported(mlir::ModuleOp module);

} // namespace xlc

#endif
