// The rows that the pass knows: a name, and the edit it stands for.
#ifndef XLC_TEST_PLANTFAULT_FAULTS_H
#define XLC_TEST_PLANTFAULT_FAULTS_H

#include "mlir/IR/BuiltinOps.h"

namespace xlc::test {

struct Fault {
  llvm::StringRef kind;
  bool (*plant)(mlir::ModuleOp); ///< edits the module; false where it has nothing to edit
};

/// All actions of the timelines or programs, in order.
llvm::SmallVector<mlir::Operation *> actionsOf(mlir::ModuleOp module);

/// Faults of programs that combine tensor and pipeline parallelism.
llvm::ArrayRef<Fault> composedFaults();

} // namespace xlc::test

#endif
