// The persistent states of a bucket, by name: one row for each state, derived from the bucket's extents and types and
// from the row of its optimizer. ProgramBuilder allocates them; the gate of Memory requires that all are present.
#ifndef XLC_LIB_MEMORY_BUCKETSTATES_H
#define XLC_LIB_MEMORY_BUCKETSTATES_H

#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {

struct BucketState {
  exec::StateKind kind;
  llvm::StringRef name; ///< of an optimizer's state; else empty
  sched::Extent extent;
  mlir::Type type;
  exec::Beginning begins;

  /// The name of its buffer: "b", "b/master", "b/m".
  std::string nameBuffer(llvm::StringRef bucket) const;
  /// The number of its elements that a rank stores, if `shards` ranks share a bucket.
  int64_t countElements(sched::BucketOp bucket, int64_t shards) const;
  exec::Cause getCause() const;
};

/// The states in the order of their allocation. `groups` are those of the module.
llvm::SmallVector<BucketState> statesOf(sched::BucketOp bucket, llvm::ArrayRef<graph::OptimizerGroup> groups);

/// Fails if a program lacks a state of a bucket of its stage, or has a different state in its place.
llvm::LogicalResult verifyBucketStates(exec::ProgramOp program);

} // namespace xlc

#endif
