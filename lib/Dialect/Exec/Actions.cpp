// The actions of the `exec` dialect: the properties that each action declares.
#include "xlc/Dialect/Exec/Exec.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace xlc::exec;
using xlc::dist::CollectiveKind;

void BeginOp::forEachNumber(llvm::function_ref<void(runtime::StepNumber, PlaceAttr)> visit) {
  if (!getNumbers())
    return;
  for (auto [name, place] : llvm::zip_equal(*getNumbers(), *getNumberPlaces()))
    visit(*runtime::findStepNumber(cast<StringAttr>(name).getValue()), cast<PlaceAttr>(place));
}

void BeginOp::forEachWrite(llvm::function_ref<void(PlaceAttr, int64_t, int64_t)> visit) {
  for (auto place : getPlaces().getAsRange<PlaceAttr>())
    runtime::forEachHostNumberOfGroup([&](const runtime::StepNumberRow &row) {
      visit(place, int64_t(runtime::offsetInGroup(row.number)), int64_t(runtime::bytesOf(row.type)));
    });
  forEachNumber([&](runtime::StepNumber number, PlaceAttr place) {
    visit(place, 0, int64_t(runtime::bytesOf(runtime::rowOf(number).type)));
  });
}

/// Numbers of a step are not divided among the ranks that share the program.
LogicalResult BeginOp::verify() {
  ArrayAttr names = getNumbersAttr(), places = getNumberPlacesAttr();
  if (size_t named = names ? names.size() : 0, placed = places ? places.size() : 0; named != placed)
    return emitOpError() << "has " << named << " per-step numbers, but " << placed << " places for them";
  auto isOfAllRanks = [](PlaceAttr place) { return place.getStride() == 0; };
  for (auto [group, place] : llvm::enumerate(getPlaces().getAsRange<PlaceAttr>()))
    if (!isOfAllRanks(place))
      return emitOpError() << "has the numbers of optimizer group " << group << " at " << place
                           << "; they are equal on all ranks, so their place must not have a stride";
  if (!names)
    return success();
  llvm::DenseSet<StringAttr> seen;
  for (auto [name, place] : llvm::zip(names.getAsRange<StringAttr>(), places.getAsRange<PlaceAttr>())) {
    if (!isOfAllRanks(place))
      return emitOpError() << "has '" << name.getValue() << "' at " << place
                           << "; it is equal on all ranks, so its place must not have a stride";
    std::optional<runtime::StepNumber> number = runtime::findStepNumber(name.getValue());
    if (!number || runtime::rowOf(*number).owner != runtime::NumberOf::Step ||
        runtime::rowOf(*number).writer != runtime::WrittenBy::Host)
      return emitOpError() << "writes '" << name.getValue() << "', which is not a per-step number written by the host";
    if (!seen.insert(name).second)
      return emitOpError() << "writes '" << name.getValue() << "' twice";
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (getInputs().size() == getPlaces().size())
    return success();
  return emitOpError() << "reads " << getInputs().size() << " inputs, but has " << getPlaces().size() << " places";
}

void StoreOp::forEachOutput(llvm::function_ref<void(StringAttr, PlaceAttr, RankedTensorType)> visit) {
  for (auto [name, place, type] :
       llvm::zip_equal(getOutputs().getAsRange<StringAttr>(), getPlaces().getAsRange<PlaceAttr>(),
                       getTypes().getAsValueRange<TypeAttr>()))
    visit(name, place, cast<RankedTensorType>(type));
}

LogicalResult StoreOp::verify() {
  size_t outputs = getOutputs().size();
  if (outputs == 0 || outputs != getPlaces().size() || outputs != getTypes().size())
    return emitOpError() << "has " << outputs << " outputs, " << getTypes().size() << " types and "
                         << getPlaces().size() << " places; these numbers must be equal and at least 1";
  for (Type type : getTypes().getAsValueRange<TypeAttr>())
    if (!isa<RankedTensorType>(type))
      return emitOpError() << "stores an output of type " << type << ", which is not a tensor type";
  return success();
}

/// How many places the function takes is the gate's (VerifyPlacement), which reads its slots.
LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getFunctionAttr()))
    return emitOpError() << "runs '" << getFunction() << "', which is not a function of the module";
  return success();
}

Exchange ExchangeOp::getExchange() {
  return {.kind = getKind(),
          .group = getGroup(),
          .element = getType(),
          .outer = 1,
          .chunk = int64_t(getCount()),
          .accumulate = getAccumulate(),
          .wire = getWire().value_or(Type())};
}

LogicalResult ExchangeOp::verify() {
  Type type = getType();
  bool isKnown = type.isF32() || type.isF64() || type.isInteger(64) || type.isInteger(32) || type.isInteger(1) ||
                 graph::isNarrow(type);
  if ((int64_t)getCount() < 0 || !isKnown)
    return emitOpError() << "cannot transfer " << (int64_t)getCount() << " elements of type " << type
                         << "; the count must be at least 0, and the type f64, f32, f16, bf16, i64, i32 or i1";
  bool sums = getKind() == CollectiveKind::all_reduce || getKind() == CollectiveKind::reduce_scatter;
  if (getWire() && !(sums && type.isF32() && graph::isNarrow(*getWire())))
    return emitOpError() << "of kind " << stringifyCollectiveKind(getKind()) << " sends " << type << " as "
                         << *getWire() << "; only the operands of a sum of f32 can be sent as bf16 or f16";
  if (getAccumulate() && getKind() != CollectiveKind::reduce_scatter)
    return emitOpError() << "accumulates the result of an " << stringifyCollectiveKind(getKind())
                         << "; only a reduce_scatter may accumulate";
  if (!getGroup().getStages().empty() && getKind() != CollectiveKind::all_reduce)
    return emitOpError() << "of kind " << stringifyCollectiveKind(getKind()) << " is over " << getGroup()
                         << "; only an all_reduce may span several stages";
  return success();
}

static LogicalResult verifyBytes(Operation *op, int64_t bytes) {
  return bytes >= 0 ? success() : op->emitOpError() << "has " << bytes << " bytes, but must have at least 0";
}
LogicalResult ReleaseOp::verify() { return verifyBytes(*this, getBytes()); }

static LogicalResult verifyTransfer(Transfer op) {
  if (int64_t(op.getMessage()) >= 0 && int64_t(op.getPeer()) >= 0)
    return verifyBytes(op, op.getBytes());
  return op->emitOpError() << "has message " << int64_t(op.getMessage()) << " and peer stage " << int64_t(op.getPeer())
                           << "; both must be at least 0";
}
LogicalResult SendOp::verify() { return verifyTransfer(*this); }
LogicalResult ReceiveOp::verify() { return verifyTransfer(*this); }
