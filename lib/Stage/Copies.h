// Copies of cheap ops beside their readers, used by two passes. RematerializeCheapOps creates them in backward, so that
// forward keeps nothing; CopyIntoChunks creates them in each pipeline chunk, so that nothing is sent.
#ifndef XLC_STAGE_COPIES_H
#define XLC_STAGE_COPIES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xlc {

struct CopyRule {
  /// Whether the reader, an op with a role, gets a copy of an op of forward. `isGiven`: the op depends on no parameter
  /// and costs at most a loop (constants, and element-wise functions of the model's inputs: masks, positions).
  llvm::function_ref<bool(mlir::Operation *op, mlir::Operation *reader, bool isGiven)> isCopied;
  /// Readers with equal attributes share a copy.
  llvm::function_ref<mlir::Attribute(mlir::Operation *reader)> placeOf;
};

/// Copies ops of @micro_batch for their readers, together with their operands. A copy has unit, role and chunk of its
/// reader.
void copyForReaders(mlir::ModuleOp module, CopyRule rule);

} // namespace xlc

#endif
