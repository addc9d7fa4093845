// The `dist` dialect: registration, verifiers, and the arithmetic of ranks in groups.
#include "xlc/Dialect/Dist/Dist.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::dist;

#include "xlc/Dialect/Dist/DistDialect.cpp.inc"
#include "xlc/Dialect/Dist/DistEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Dist/DistAttrs.cpp.inc"
#include "xlc/Dialect/Dist/DistInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Dist/DistOps.cpp.inc"

void DistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xlc/Dialect/Dist/DistAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Dist/DistOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Mesh and groups
//===----------------------------------------------------------------------===//

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kMesh || (isa<ModuleOp>(op) && isa<MeshAttr>(attribute.getValue())))
    return success();
  return op->emitOpError() << "has " << kMesh << " = " << attribute.getValue()
                           << "; only a module may have this attribute, with a #dist.mesh as its value";
}

MeshAttr xlc::dist::getMesh(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto mesh = module ? module->getAttrOfType<MeshAttr>(kMesh) : MeshAttr();
  return mesh ? mesh : MeshAttr::get(op->getContext(), 1, 1, 1, 1);
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t pp, int64_t dp, int64_t tp,
                               int64_t shards) {
  if (pp < 1 || dp < 1 || tp < 1 || shards < 1 || dp % shards != 0)
    return emitError() << "invalid mesh: pp = " << pp << ", dp = " << dp << ", tp = " << tp
                       << " and shards = " << shards << "; all must be at least 1, and shards must divide dp";
  return success();
}

LogicalResult GroupAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Axis, DenseI64ArrayAttr digits,
                                DenseI64ArrayAttr stages) {
  if (digits.size() % 2 != 0 || llvm::any_of(digits.asArrayRef(), [](int64_t value) { return value < 1; }))
    return emitError() << "each digit must be a pair of a count and a stride, both at least 1";
  for (auto [stage, next] : llvm::zip(stages.asArrayRef(), stages.asArrayRef().drop_front(!stages.empty())))
    if (next <= stage)
      return emitError() << "stages must be in ascending order, but " << stage << " precedes " << next;
  return success();
}

int64_t GroupAttr::size() const {
  int64_t size = std::max<int64_t>(1, getStages().size());
  for (size_t i = 0; i < (size_t)getDigits().size(); i += 2)
    size *= getDigits()[i];
  return size;
}

int64_t GroupAttr::indexOf(MeshAttr mesh, int64_t rank) const {
  int64_t inStage = rank % mesh.getStageRanks();
  int64_t index = getStages().empty()
                      ? 0
                      : llvm::find(getStages().asArrayRef(), mesh.ppOf(rank)) - getStages().asArrayRef().begin();
  for (size_t i = 0; i < (size_t)getDigits().size(); i += 2)
    index = index * getDigits()[i] + inStage / getDigits()[i + 1] % getDigits()[i];
  return index;
}

SmallVector<int64_t> GroupAttr::members(MeshAttr mesh, int64_t rank) const {
  int64_t first = rank % mesh.getStageRanks();
  SmallVector<int64_t> within{0};
  for (size_t i = 0; i < (size_t)getDigits().size(); i += 2) {
    int64_t count = getDigits()[i], stride = getDigits()[i + 1];
    first -= first / stride % count * stride;
    SmallVector<int64_t> more;
    for (int64_t base : within)
      for (int64_t digit = 0; digit < count; ++digit)
        more.push_back(base + digit * stride);
    within = std::move(more);
  }
  SmallVector<int64_t> stages(getStages().asArrayRef()), members;
  if (stages.empty())
    stages.push_back(mesh.ppOf(rank));
  for (int64_t stage : stages)
    for (int64_t offset : within)
      members.push_back(stage * mesh.getStageRanks() + first + offset);
  return members;
}

static GroupAttr group(MLIRContext *context, Axis axis, ArrayRef<int64_t> digits, ArrayRef<int64_t> stages = {}) {
  return GroupAttr::get(context, axis, DenseI64ArrayAttr::get(context, digits),
                        DenseI64ArrayAttr::get(context, stages));
}

GroupAttr GroupAttr::dataParallel(MeshAttr mesh) {
  return group(mesh.getContext(), Axis::dp, {mesh.getDp(), mesh.getTp()});
}
GroupAttr GroupAttr::shards(MeshAttr mesh) {
  return group(mesh.getContext(), Axis::dp, {mesh.getShards(), mesh.getTp()});
}
GroupAttr GroupAttr::replicas(MeshAttr mesh) {
  return group(mesh.getContext(), Axis::dp, {mesh.getDp() / mesh.getShards(), mesh.getShards() * mesh.getTp()});
}
GroupAttr GroupAttr::tensorParallel(MLIRContext *context, int64_t count, int64_t stride) {
  return group(context, Axis::tp, {count, stride});
}
GroupAttr GroupAttr::across(Axis axis, ArrayRef<int64_t> stages) const {
  return group(getContext(), axis, getDigits().asArrayRef(), stages);
}
GroupAttr GroupAttr::with(Axis axis, GroupAttr other) const {
  SmallVector<int64_t> digits(getDigits().asArrayRef());
  llvm::append_range(digits, other.getDigits().asArrayRef());
  return group(getContext(), axis, digits, getStages().asArrayRef());
}

//===----------------------------------------------------------------------===//
// Layouts and collectives
//===----------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, DenseI64ArrayAttr shape,
                                 int64_t dim, int64_t outer, GroupAttr) {
  if (dim < 0 || dim >= shape.size())
    return emitError() << "dimension " << dim << " is out of range for rank " << shape.size();
  if (outer < 1 || shape[dim] % outer != 0)
    return emitError() << "dimension " << dim << " of size " << shape[dim] << " cannot be divided into " << outer
                       << " equal parts";
  return success();
}

SmallVector<int64_t> LayoutAttr::localShape() const {
  SmallVector<int64_t> shape(getShape().asArrayRef());
  shape[getDim()] = getOuter() * block();
  return shape;
}

/// Dimension `dim` of `whole` holds as many blocks of that of `piece` as the group has ranks.
static LogicalResult verifyRegroup(Operation *op, int64_t dim, int64_t outer, GroupAttr group, Type piece, Type whole) {
  ArrayRef<int64_t> small = cast<RankedTensorType>(piece).getShape(), large = cast<RankedTensorType>(whole).getShape();
  if (dim < 0 || dim >= (int64_t)small.size() || small.size() != large.size())
    return op->emitOpError() << "needs two tensors of equal rank that have dimension " << dim << ", but has " << piece
                             << " and " << whole;
  for (auto [i, have, want] : llvm::enumerate(small, large))
    if (have * ((int64_t)i == dim ? group.size() : 1) != want)
      return op->emitOpError() << "pieces of type " << piece << " on " << group.size() << " ranks do not form " << whole
                               << " in dimension " << i;
  if (outer < 1 || small[dim] % outer != 0)
    return op->emitOpError() << "dimension " << dim << " of " << piece << " cannot be divided into " << outer
                             << " equal parts";
  return success();
}

LogicalResult AllToAllOp::verify() {
  ArrayRef<int64_t> x = getX().getType().getShape(), y = getY().getType().getShape();
  int64_t from = getFrom(), to = getTo(), rank = x.size();
  if (from < 0 || from >= rank || to < 0 || to >= rank || from == to || (int64_t)y.size() != rank)
    return emitOpError() << "cannot move the split from dimension " << from << " of " << getX().getType()
                         << " to dimension " << to << " of " << getY().getType()
                         << "; these must be different dimensions of tensors of equal rank";
  SmallVector<int64_t> shape(x);
  shape[from] = y[from];
  Type whole = getX().getType().clone(shape);
  return success(succeeded(verifyRegroup(*this, from, getFromOuter(), getGroup(), getX().getType(), whole)) &&
                 succeeded(verifyRegroup(*this, to, getToOuter(), getGroup(), getY().getType(), whole)));
}
LogicalResult AllGatherOp::verify() {
  return verifyRegroup(*this, getDim(), getOuter(), getGroup(), getX().getType(), getY().getType());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyRegroup(*this, getDim(), getOuter(), getGroup(), getY().getType(), getX().getType());
}
