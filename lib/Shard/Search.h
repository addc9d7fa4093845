// Finds the layouts of parameters, without using names. Tensor parallelism splits every weight matrix of a repeated
// unit over tp and never gathers it, and does not split the batch. Among these layouts the search takes the one that
// moves the fewest bytes, forward and backward, then the one that needs the least memory.
#ifndef XLC_LIB_SHARD_SEARCH_H
#define XLC_LIB_SHARD_SEARCH_H

#include "Matrices.h"
#include "Propagation.h"
#include "xlc/Shard/Shard.h"

namespace xlc::shard {

/// Fills in `problem.parameters`. A parameter that cannot be split is an error; false if there was any.
bool findLayouts(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics);

/// The function of one rank, outside of a module, and for each of its ops the original op of the problem's function.
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
