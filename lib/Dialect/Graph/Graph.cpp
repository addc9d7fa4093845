// The `graph` dialect: registration, enums, attributes, and the small queries on an op that every phase uses (unit,
// role, source name, bytes).
#include "mlir/IR/DialectImplementation.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Dialect/Graph/Schedule.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Dialect/Graph/Update.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::graph;

/// A name as a bare word.
static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &word) {
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  word = parser.getBuilder().getStringAttr(text);
  return success();
}
static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr word) { printer << word.getValue(); }

#include "xlc/Dialect/Graph/GraphDialect.cpp.inc"
#include "xlc/Dialect/Graph/GraphEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Graph/GraphAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Graph/GraphOps.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Graph/GraphStops.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xlc/Dialect/Graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Graph/GraphOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Graph/GraphStops.cpp.inc"
      >();
}

/// A module has one entry for a purpose, and an evaluation draws nothing.
static LogicalResult verifyEntry(Operation *op, Attribute value) {
  auto function = dyn_cast<func::FuncOp>(op);
  auto purpose = dyn_cast<PurposeAttr>(value);
  if (!function || !purpose)
    return op->emitOpError() << kEntry << " must be a purpose and belong to a function";
  for (auto other : op->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (other != function && other->getAttr(kEntry) == value)
      return op->emitOpError() << "has the same purpose as '" << other.getName() << "'";
  if (purpose.getValue() != Purpose::evaluate)
    return success();
  WalkResult outcome = function.walk([](Operation *inner) {
    auto attention = dyn_cast<AttentionOp>(inner);
    if (!isa<RandomBitsOp>(inner) && !(attention && attention.getDraws()))
      return WalkResult::advance();
    inner->emitOpError("draws random numbers in an evaluation");
    return WalkResult::interrupt();
  });
  return failure(outcome.wasInterrupted());
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kEntry)
    return verifyEntry(op, attribute.getValue());
  if (attribute.getName() == kLossScale)
    return LossScale::verify([&] { return op->emitOpError(); }, attribute.getValue());
  if (attribute.getName() == kSchedule)
    return verifySchedule([&] { return op->emitOpError(); }, attribute.getValue());
  if (attribute.getName() != kGroups)
    return success();
  auto groups = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!groups)
    return op->emitOpError() << kGroups << " must be an array";
  for (Attribute group : groups)
    if (failed(OptimizerGroup::verify([&] { return op->emitOpError() << kGroups << ": "; }, group)))
      return failure();
  return success();
}

ModelUnitAttr xlc::graph::getUnit(Operation *op) { return op->getAttrOfType<ModelUnitAttr>(kUnit); }

std::optional<Role> xlc::graph::getRole(Operation *op) {
  auto role = op->getAttrOfType<RoleAttr>(kRole);
  return role ? std::optional<Role>(role.getValue()) : std::nullopt;
}

bool xlc::graph::readsOwnElement(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (!op->hasTrait<ReadsOwnElement>())
    return false;
  if (auto step = dyn_cast<OptimizerStepOp>(op); step && &operand == &step.getScalarsMutable())
    return false;
  return cast<ShapedType>(operand.get().getType()).getShape() ==
         cast<ShapedType>(op->getResult(0).getType()).getShape();
}

bool xlc::graph::isReducedAlone(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return isa<ReduceOp>(op);
  ArrayRef<int64_t> from = typeOf(reshape.getX()).getShape(), to = typeOf(reshape.getY()).getShape();
  return !from.empty() && !to.empty() && from.back() == to.back() && llvm::all_of(op->getUsers(), isReducedAlone);
}

Value xlc::graph::skipReshapings(Value value) {
  for (Operation *op = value.getDefiningOp(); op && op->hasTrait<Reshaping>(); op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

bool xlc::graph::isNarrow(Type element) { return element.isBF16() || element.isF16(); }

bool xlc::graph::isWidening(Operation *op) {
  return isa<CastOp>(op) && isNarrow(typeOf(op->getOperand(0)).getElementType()) &&
         !isNarrow(typeOf(op->getResult(0)).getElementType());
}

Value xlc::graph::findRepeatedVector(Value value) {
  auto skipWidening = [](Value wide) {
    Operation *op = wide.getDefiningOp();
    return op && isWidening(op) ? op->getOperand(0) : wide;
  };
  auto broadcast = skipWidening(value).getDefiningOp<BroadcastOp>();
  if (!broadcast || typeOf(broadcast.getX()).getShape() != typeOf(value).getShape().take_back())
    return {};
  return skipWidening(broadcast.getX());
}

int64_t xlc::graph::getByteSize(Type elementType, int64_t count) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return count * (bits < 8 ? 1 : bits / 8);
}

int64_t xlc::graph::getByteSize(ShapedType type) { return getByteSize(type.getElementType(), type.getNumElements()); }

StringRef xlc::graph::getSourceName(Operation *op) {
  Location loc = op->getLoc();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (!fused.getLocations().empty())
      loc = fused.getLocations().front();
  auto name = dyn_cast<NameLoc>(loc);
  return name ? name.getName().getValue() : StringRef();
}
