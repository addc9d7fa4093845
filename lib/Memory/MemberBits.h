// Random bits for the elements of a bucket. The kernel reads the bucket's table of members
// (include/xlc/Runtime/States.h), which gives for each element its parameter and its position there.
#ifndef XLC_LIB_MEMORY_MEMBERBITS_H
#define XLC_LIB_MEMORY_MEMBERBITS_H

#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Sched/Sched.h"

namespace xlc {

/// The properties of a bucket's members, equal on every rank, that determine how an element's position in the whole
/// parameter is computed.
struct MemberForm {
  int64_t count;
  bool hasRuns = false;     ///< a rank's piece of some member is several runs of the whole parameter
  bool hasFineRuns = false; ///< and one of them is shorter than a row

  static MemberForm of(sched::BucketOp bucket);
  /// A suffix that distinguishes kernels of different forms: "_of_3_in_runs".
  std::string getSuffix() const;
};

/// 32 bits for each element of `rows` rows: [rows, sched::kMemberAlignment] i32. `table`: [kMemberColumns, members]
/// i64; `key`: i64.
mlir::Value createMemberBits(mlir::OpBuilder &builder, mlir::Location loc, const MemberForm &form, mlir::Value table,
                             mlir::Value key, int64_t rows);

} // namespace xlc

#endif
