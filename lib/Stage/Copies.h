// Copies of cheap ops beside their readers: the means of two passes. RematerializeCheapOps makes them in backward,
// so that forward keeps nothing; CopyIntoChunks makes them in each pipeline chunk, so that nothing is sent.
#ifndef XLC_STAGE_COPIES_H
#define XLC_STAGE_COPIES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xlc {

struct CopyRule {
  /// Whether the reader, an op with a role, gets a copy of an op of forward. `isGiven`: the op depends on no parameter
  /// and takes no more than a loop (constants, and what follows element by element from the model's inputs: masks,
  /// positions).
  llvm::function_ref<bool(mlir::Operation *op, mlir::Operation *reader, bool isGiven)> isCopied;
  /// Readers of one place share a copy.
  llvm::function_ref<mlir::Attribute(mlir::Operation *reader)> placeOf;
};

/// Copies ops of @micro_batch for their readers, with what they are made of. A copy has unit, role and chunk of its
/// reader.
void copyForReaders(mlir::ModuleOp module, CopyRule rule);

} // namespace xlc

#endif
