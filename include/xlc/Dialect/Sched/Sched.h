// The `sched` dialect in C++. See docs/rationale/Sched.md.
#ifndef XLC_DIALECT_SCHED_SCHED_H
#define XLC_DIALECT_SCHED_SCHED_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Dist/Dist.h"

#include "xlc/Dialect/Sched/SchedEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Sched/SchedAttrs.h.inc"

#include "xlc/Dialect/Sched/SchedDialect.h.inc"

#include "xlc/Dialect/Sched/SchedInterfaces.h.inc"

#define GET_OP_CLASSES
#include "xlc/Dialect/Sched/SchedOps.h.inc"

namespace xlc::sched {
/// Names of the scalars that a timeline has in addition to buckets.
inline constexpr llvm::StringLiteral kLossSum = "@loss_sum";
inline constexpr llvm::StringLiteral kLossCount = "@loss_count";
inline constexpr llvm::StringLiteral kSumSquares = "@sum_squares";
/// Members of a bucket, and the slices of ranks, start at multiples of this number of elements: a row of this size
/// belongs to a single member and its padding.
inline constexpr int64_t kMemberAlignment = 64;
/// Groups of buckets without an optimizer group: parameters that are not trained, and buffers, which forward rewrites.
inline constexpr int64_t kFrozenGroup = -1;
inline constexpr int64_t kBufferGroup = -2;

/// The timelines of a module with a purpose, in their order.
llvm::SmallVector<TimelineOp> timelinesOf(mlir::ModuleOp module, graph::Purpose purpose = graph::Purpose::train);
/// The action as a collective of this kind on a bucket; null if it is a different action.
CollectiveOp asCollective(mlir::Operation *action, dist::CollectiveKind kind);
/// Whether the ranks of a pipeline stage have a bucket.
bool isOnStage(BucketOp bucket, int64_t stage);
/// The piece of member `index` that a rank owns; null: all of it.
dist::LayoutAttr getLayout(BucketOp bucket, int64_t index);
} // namespace xlc::sched

#endif
