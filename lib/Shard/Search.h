// Finds the layouts of parameters. What tensor parallelism means, so that no names are needed: every weight matrix of
// a repeated unit is split over tp and never gathered, and the batch is not split; among these layouts the one that
// moves the fewest bytes, forward and backward, then the one that takes the least memory.
#ifndef XLC_LIB_SHARD_SEARCH_H
#define XLC_LIB_SHARD_SEARCH_H

#include "Matrices.h"
#include "Propagation.h"
#include "xlc/Shard/Shard.h"

namespace xlc::shard {

/// Fills in `problem.parameters`. What cannot be split is an error; false if there was any.
bool findLayouts(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics);

/// The function of one rank, in no module, and the op of the problem's function that each of its ops was written for.
struct LocalProgram {
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> origins;
};
LocalProgram writeLocal(const Problem &problem, const Propagation &propagation);

/// Replaces the problem's function by one rank's that the gate accepts. A split parameter that is needed whole is an
/// error; false if there was any.
bool writeProven(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics);

} // namespace xlc::shard

#endif
