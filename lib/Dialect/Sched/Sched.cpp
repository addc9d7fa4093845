// The `sched` dialect: registration and verifiers.
#include "xlc/Dialect/Sched/Sched.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::sched;

#include "xlc/Dialect/Sched/SchedDialect.cpp.inc"
#include "xlc/Dialect/Sched/SchedEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Sched/SchedAttrs.cpp.inc"
#include "xlc/Dialect/Sched/SchedInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xlc/Dialect/Sched/SchedAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Sched/SchedOps.cpp.inc"
      >();
}

LogicalResult BucketOp::verify() {
  size_t count = getMembers().size();
  if (getOffsets().size() != count || getSizes().size() != count)
    return emitOpError() << "has " << count << " members, " << getOffsets().size() << " offsets and "
                         << getSizes().size() << " sizes";
  int64_t end = 0;
  for (auto [member, offset, size] : llvm::zip(getMembers(), getOffsets(), getSizes())) {
    if (offset < end || offset + size > (int64_t)getElements())
      return emitOpError() << "member " << member << " takes elements " << offset << " to " << offset + size
                           << ", free are " << end << " to " << getElements();
    end = offset + size;
  }
  return success();
}

bool xlc::sched::isOnStage(BucketOp bucket, int64_t stage) {
  std::optional<ArrayRef<int64_t>> stages = bucket.getStages();
  return stages ? llvm::is_contained(*stages, stage) : stage == 0;
}

xlc::dist::LayoutAttr xlc::sched::getLayout(BucketOp bucket, int64_t index) {
  std::optional<ArrayAttr> layouts = bucket.getLayouts();
  return layouts ? dyn_cast<dist::LayoutAttr>((*layouts)[index]) : dist::LayoutAttr();
}
