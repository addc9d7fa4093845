// The `sched` dialect: registration and verifiers.
#include "xlc/Dialect/Sched/Sched.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::sched;
using xlc::dist::CollectiveKind;

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

SmallVector<TimelineOp> xlc::sched::timelinesOf(ModuleOp module, graph::Purpose purpose) {
  auto isWanted = [&](TimelineOp timeline) { return timeline.getPurpose() == purpose; };
  return llvm::to_vector(llvm::make_filter_range(module.getOps<TimelineOp>(), isWanted));
}

/// Where a bucket does not say it: f32.
static Type orF32(std::optional<Type> type, MLIRContext *context) {
  return type ? *type : Type(Float32Type::get(context));
}

Type BucketOp::getTypeOfParameters() { return orF32(getElementType(), getContext()); }
Type BucketOp::getTypeOfUpdated() { return getMasterType() ? Type(*getMasterType()) : getTypeOfParameters(); }
Type BucketOp::getTypeOfGradients() { return orF32(getGradientType(), getContext()); }
Type BucketOp::getTypeOfStates() { return orF32(getStateType(), getContext()); }
Type BucketOp::getTypeOfState(StringRef name) {
  return name == xlc::graph::kAverage ? Type(Float32Type::get(getContext())) : getTypeOfStates();
}
Type BucketOp::getTypeOnWire() { return getWireType() ? Type(*getWireType()) : getTypeOfGradients(); }

int64_t BucketOp::getParameterBytes(int64_t elements) { return graph::getByteSize(getTypeOfParameters(), elements); }
int64_t BucketOp::getGradientBytes(int64_t elements) { return graph::getByteSize(getTypeOfGradients(), elements); }

LogicalResult BucketOp::verify() {
  size_t count = getMembers().size();
  if (getOffsets().size() != count || getSizes().size() != count)
    return emitOpError() << "has " << count << " members, but " << getOffsets().size() << " offsets and "
                         << getSizes().size() << " sizes";
  int64_t end = 0;
  for (auto [member, offset, size] : llvm::zip(getMembers(), getOffsets(), getSizes())) {
    if (offset < end || offset + size > (int64_t)getElements())
      return emitOpError() << "member " << member << " occupies elements " << offset << " to " << offset + size
                           << ", but only " << end << " to " << getElements() << " are free";
    if (getStochastic() && offset % kMemberAlignment != 0)
      return emitOpError() << "is rounded stochastically, but member " << member << " begins at element " << offset
                           << ", which is not a multiple of " << kMemberAlignment;
    end = offset + size;
  }
  return success();
}

SmallVector<StringAttr> TimelineOp::listSums() {
  return getSums() ? llvm::to_vector(getSums()->getAsRange<StringAttr>()) : SmallVector<StringAttr>();
}

RankedTensorType TimelineOp::findSum(StringRef name) {
  SmallVector<StringAttr> sums = listSums();
  const auto *found = llvm::find_if(sums, [&](StringAttr sum) { return sum.getValue() == name; });
  return found == sums.end()
             ? RankedTensorType()
             : cast<RankedTensorType>(cast<TypeAttr>((*getSumTypes())[found - sums.begin()]).getValue());
}

LogicalResult TimelineOp::verify() {
  if ((int64_t)getMicroBatches() < 1)
    return emitOpError() << "has " << (int64_t)getMicroBatches() << " micro-batches, but must have at least 1";
  size_t sums = getSums() ? getSums()->size() : 0, types = getSumTypes() ? getSumTypes()->size() : 0;
  auto isTensor = [](Attribute type) { return isa<RankedTensorType>(cast<TypeAttr>(type).getValue()); };
  if (sums != types || (types > 0 && !llvm::all_of(*getSumTypes(), isTensor)) || isTraining() != (sums == 0))
    return emitOpError()
           << "has " << sums << " sums and " << types
           << " sum types; a timeline for evaluation must have sums of tensor types, a timeline for training must not";
  for (Operation &op : getBody().front())
    if (!op.hasTrait<OpTrait::HasParent<TimelineOp>::Impl>())
      return op.emitOpError() << "is in a timeline, which may contain only actions";
  return success();
}

/// Whether an action is of one of its timeline's micro-batches.
static LogicalResult verifyMicroBatch(MicroBatchAction action) {
  int64_t all = action->getParentOfType<TimelineOp>().getMicroBatches(), own = action.getMicroBatch();
  if (own >= 0 && own < all)
    return success();
  return action->emitOpError() << "has micro-batch " << own << ", which must be 0 to " << all - 1;
}

LogicalResult LoadOp::verify() {
  if (getInputs().size() != getValues().size())
    return emitOpError() << "reads " << getInputs().size() << " inputs into " << getValues().size()
                         << " values; these numbers must be equal";
  return verifyMicroBatch(*this);
}

LogicalResult StoreOp::verify() {
  if (getOutputs().size() != getValues().size() || getOutputs().empty())
    return emitOpError() << "stores " << getValues().size() << " values as " << getOutputs().size()
                         << " outputs; these numbers must be equal and at least 1";
  if (getOperation()->getParentOfType<TimelineOp>().isTraining())
    return emitOpError("stores outputs of the model in a training step");
  return verifyMicroBatch(*this);
}

LogicalResult RunOp::verify() {
  if (getStores().size() != getAccumulate().size())
    return emitOpError() << "stores " << getStores().size() << " results, but accumulate has " << getAccumulate().size()
                         << " entries";
  if (getRole() == graph::Role::U)
    return emitOpError() << "has role U, but must have F, B, I or W";
  return verifyMicroBatch(*this);
}

static LogicalResult verifyTransfer(Operation *op) {
  auto transfer = cast<TransferAction>(op);
  if ((int64_t)transfer.getMessage() < 0 || (int64_t)transfer.getPeer() < 0)
    return op->emitOpError() << "has message " << (int64_t)transfer.getMessage() << " and peer stage "
                             << (int64_t)transfer.getPeer() << "; both must be at least 0";
  return verifyMicroBatch(cast<MicroBatchAction>(op));
}
LogicalResult SendOp::verify() { return verifyTransfer(*this); }
LogicalResult ReceiveOp::verify() { return verifyTransfer(*this); }

static LogicalResult verifyBucket(BucketAction action, SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<BucketOp>(action, action.getBucketAttr()))
    return success();
  return action->emitOpError() << "names bucket '" << action.getBucketAttr().getValue() << "', which does not exist";
}
LogicalResult CollectiveOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifyBucket(*this, symbols); }
LogicalResult ReleaseOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifyBucket(*this, symbols); }
LogicalResult NormOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifyBucket(*this, symbols); }
LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) { return verifyBucket(*this, symbols); }

LogicalResult ScalarsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getFunctionAttr()))
    return success();
  return emitOpError() << "runs '" << getFunction() << "', which is not a function of the module";
}

LogicalResult NormOp::verify() {
  if ((int64_t)getCopies() < 1)
    return emitOpError() << "has copies = " << (int64_t)getCopies() << ", which must be at least 1";
  return success();
}

LogicalResult CollectiveOp::verify() {
  bool isSum = getKind() == CollectiveKind::all_reduce, isScatter = getKind() == CollectiveKind::reduce_scatter;
  if (!isSum && !isScatter && getKind() != CollectiveKind::all_gather)
    return emitOpError() << "is an " << stringifyCollectiveKind(getKind())
                         << "; a bucket requires all_gather, reduce_scatter or all_reduce";
  if (isSum != bool(getGroupAttr()) || isSum != bool(getExtentAttr()))
    return emitOpError() << "of kind " << stringifyCollectiveKind(getKind())
                         << (isSum ? " must have an extent and a group" : " must have neither an extent nor a group");
  if (getAccumulate() && !isScatter)
    return emitOpError() << "accumulates the result of an " << stringifyCollectiveKind(getKind())
                         << "; only a reduce_scatter may accumulate";
  return success();
}

static LogicalResult verifyScalars(Operation *op, ArrayAttr scalars) {
  auto timeline = op->getParentOfType<TimelineOp>();
  SmallVector<StringRef> known{kLossSum, kLossCount, kSumSquares};
  if (!timeline.isTraining())
    known = llvm::map_to_vector(timeline.listSums(), [](StringAttr name) { return name.getValue(); });
  for (auto name : scalars.getAsRange<StringAttr>())
    if (!llvm::is_contained(known, name.getValue()))
      return op->emitOpError() << "refers to scalar '" << name.getValue() << "', which is not one of "
                               << llvm::join(known, ", ");
  return success();
}
LogicalResult ZeroScalarsOp::verify() { return verifyScalars(*this, getScalars()); }
LogicalResult AllReduceScalarsOp::verify() { return verifyScalars(*this, getScalars()); }

CollectiveOp xlc::sched::asCollective(Operation *action, CollectiveKind kind) {
  auto collective = dyn_cast<CollectiveOp>(action);
  return collective && collective.getKind() == kind ? collective : CollectiveOp();
}

bool xlc::sched::isOnStage(BucketOp bucket, int64_t stage) {
  std::optional<ArrayRef<int64_t>> stages = bucket.getStages();
  return stages ? llvm::is_contained(*stages, stage) : stage == 0;
}

xlc::dist::LayoutAttr xlc::sched::getLayout(BucketOp bucket, int64_t index) {
  std::optional<ArrayAttr> layouts = bucket.getLayouts();
  return layouts ? dyn_cast<dist::LayoutAttr>((*layouts)[index]) : dist::LayoutAttr();
}
