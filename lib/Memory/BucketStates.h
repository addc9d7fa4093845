// What a bucket keeps from step to step, by name: one row for each state, from the bucket's extents and types and from
// the row of its optimizer. ProgramBuilder gives each memory; the gate of Memory demands that all are there.
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
  /// Elements that a rank keeps of it, where `shards` ranks share a bucket.
  int64_t countElements(sched::BucketOp bucket, int64_t shards) const;
  exec::Cause getCause() const;
};

/// In the order in which they have memory. `groups` are those of the module.
llvm::SmallVector<BucketState> statesOf(sched::BucketOp bucket, llvm::ArrayRef<graph::OptimizerGroup> groups);

/// Fails where a program lacks a state of a bucket that its stage holds, or has another in its place.
llvm::LogicalResult verifyBucketStates(exec::ProgramOp program);

} // namespace xlc

#endif
