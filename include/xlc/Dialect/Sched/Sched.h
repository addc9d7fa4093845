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
/// Names of the scalars a timeline keeps besides buckets.
inline constexpr llvm::StringLiteral kLossSum = "@loss_sum";
inline constexpr llvm::StringLiteral kLossCount = "@loss_count";
inline constexpr llvm::StringLiteral kSumSquares = "@sum_squares";
/// Members of a bucket begin at multiples of so many elements, and so do ranks' slices: a row of so many elements is
/// one member's, and padding.
inline constexpr int64_t kMemberAlignment = 64;
/// Buckets without an optimizer group: parameters that are not trained, and buffers, which forward writes anew.
inline constexpr int64_t kFrozenGroup = -1;
inline constexpr int64_t kBufferGroup = -2;

/// The timelines of a module that are for a purpose, in their order.
llvm::SmallVector<TimelineOp> timelinesOf(mlir::ModuleOp module, graph::Purpose purpose = graph::Purpose::train);
/// An action as a collective of a kind on a bucket; null if it is none.
CollectiveOp asCollective(mlir::Operation *action, dist::CollectiveKind kind);
/// Whether the ranks of a pipeline stage hold a bucket.
bool isOnStage(BucketOp bucket, int64_t stage);
/// Which piece of member `index` a rank owns; null: all of it.
dist::LayoutAttr getLayout(BucketOp bucket, int64_t index);
} // namespace xlc::sched

#endif
