// The `exec` dialect: registration and verifiers. Checks over several ops (reads before writes, the arguments of a
// function) belong to the gate of the phase Memory.
#include "xlc/Dialect/Exec/Exec.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc::exec;
using xlc::dist::CollectiveKind;

#include "xlc/Dialect/Exec/ExecDialect.cpp.inc"
#include "xlc/Dialect/Exec/ExecEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Exec/ExecAttrs.cpp.inc"
#include "xlc/Dialect/Exec/ExecInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "xlc/Dialect/Exec/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xlc/Dialect/Exec/ExecAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "xlc/Dialect/Exec/ExecOps.cpp.inc"
      >();
}

SmallVector<ProgramOp> xlc::exec::programsOf(ModuleOp module, graph::Purpose purpose) {
  auto isWanted = [&](ProgramOp program) { return program.getPurpose() == purpose; };
  return llvm::to_vector(llvm::make_filter_range(module.getOps<ProgramOp>(), isWanted));
}

//===----------------------------------------------------------------------===//
// Inside a function
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  auto slot = cast<MemRefType>(getSlot().getType()), view = cast<MemRefType>(getView().getType());
  SmallVector<int64_t> strides;
  int64_t ignored = 0;
  if (failed(view.getStridesAndOffset(strides, ignored)))
    return emitOpError() << "has a result without a strided layout: " << view;
  int64_t first = getOffset(), last = first;
  for (auto [size, stride] : llvm::zip_equal(view.getShape(), strides))
    last += (size - 1) * stride;
  if (view.getNumElements() > 0 && (first < 0 || last >= slot.getNumElements()))
    return emitOpError() << "views elements " << first << " to " << last << ", but the slot has "
                         << slot.getNumElements() << " elements";
  return success();
}

LogicalResult CallOp::verify() {
  if (getAccumulate().size() != getOuts().size())
    return emitOpError() << "has " << getOuts().size() << " outs, but accumulate has " << getAccumulate().size()
                         << " entries";
  for (int32_t accumulate : getAccumulate())
    if (!symbolizeAccumulate(accumulate))
      return emitOpError() << "has accumulate = " << accumulate << ", which must be 0 (never), 1 (always) or 2 (later)";
  return success();
}

int64_t Exchange::sourceElements() const {
  bool scatters = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
  return outer * rows * chunk * (scatters ? group.size() : 1);
}

int64_t Exchange::resultElements() const {
  bool gathers = kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
  return outer * rows * chunk * (gathers ? group.size() : 1);
}

constexpr llvm::StringLiteral kKernelKind = "exec.kind";

std::optional<KernelKind> xlc::exec::findKernelKind(Operation *function) {
  auto kind = function->getAttrOfType<KernelKindAttr>(kKernelKind);
  return kind ? std::optional(kind.getValue()) : std::nullopt;
}

void xlc::exec::setKernelKind(Operation *function, KernelKind kind) {
  function->setAttr(kKernelKind, KernelKindAttr::get(function->getContext(), kind));
}

Exchange CollectiveOp::getExchange() {
  Type element = cast<MemRefType>(getSrc().getType()).getElementType();
  return {getKind(),           getGroup(),         element,        int64_t(getOuter()),
          int64_t(getChunk()), int64_t(getRows()), getRanksFirst()};
}

LogicalResult CollectiveOp::verify() {
  if (!getGroup().getStages().empty())
    return emitOpError() << "uses group " << getGroup()
                         << "; within a function, all ranks of a group must be of one stage";
  int64_t src = getExchange().sourceElements(), dst = getExchange().resultElements();
  auto count = [](Value value) { return cast<MemRefType>(value.getType()).getNumElements(); };
  if (count(getSrc()) != src || count(getDst()) != dst)
    return emitOpError() << "over " << getGroup().size() << " ranks requires " << src << " source and " << dst
                         << " result elements, but has " << count(getSrc()) << " and " << count(getDst());
  return success();
}

//===----------------------------------------------------------------------===//
// The program of a rank
//===----------------------------------------------------------------------===//

/// Each state is told apart from the others, and lies in a persistent buffer.
static LogicalResult verifyStates(ProgramOp program, ArrayRef<BufferOp> buffers) {
  llvm::DenseSet<std::tuple<int32_t, Attribute, Attribute, Attribute, Attribute>> seen;
  for (auto state : program.getBody().front().getOps<StateOp>()) {
    Attribute name = state.getNameAttr(), bucket = state.getBucketAttr();
    if (!seen.insert({int32_t(state.getKind()), name, bucket, state.getGroupAttr(), state.getSiteAttr()}).second)
      return state.emitOpError() << "occurs twice in the program";
    PlaceAttr place = state.getPlace();
    if (place.getBuffer() < 0 || place.getBuffer() >= (int64_t)buffers.size())
      return state.emitOpError() << "uses buffer " << place.getBuffer() << ", which must be below " << buffers.size();
    BufferOp buffer = buffers[place.getBuffer()];
    if (!buffer.getPersistent())
      return state.emitOpError() << "is in buffer '" << buffer.getName() << "', which is not persistent";
    if (place.getStride() != 0 || place.getOffset() < 0 || place.getOffset() + state.getBytes() > buffer.getSize())
      return state.emitOpError() << "occupies bytes " << place.getOffset() << " to "
                                 << place.getOffset() + state.getBytes() << " of buffer '" << buffer.getName()
                                 << "', which has " << buffer.getSize() << " bytes";
  }
  return success();
}

/// Buffers, then states, then actions.
enum class Part { Buffers, States, Actions };

static std::optional<Part> partOf(Operation &op) {
  if (isa<BufferOp>(op))
    return Part::Buffers;
  if (isa<StateOp>(op))
    return Part::States;
  return isa<Action>(op) ? std::optional(Part::Actions) : std::nullopt;
}

LogicalResult ProgramOp::verify() {
  if ((int64_t)getMicroBatches() < 1)
    return emitOpError() << "has " << (int64_t)getMicroBatches() << " micro-batches, but must have at least 1";
  SmallVector<BufferOp> buffers;
  Part reached = Part::Buffers;
  for (Operation &op : getBody().front()) {
    std::optional<Part> part = partOf(op);
    if (!part)
      return op.emitOpError() << "is in a program, but is not a buffer, a state or an action";
    auto buffer = dyn_cast<BufferOp>(op);
    if (*part < reached)
      return op.emitOpError() << "is misplaced; a program has buffers first, then states, then actions";
    if (buffer && buffer.getId() != (int64_t)buffers.size())
      return buffer.emitOpError() << "has number " << buffer.getId() << ", but must have number " << buffers.size()
                                  << "; buffers are numbered in order";
    reached = *part;
    if (buffer)
      buffers.push_back(buffer);
  }
  if (failed(verifyStates(*this, buffers)))
    return failure();
  SmallVector<Action> actions(getBody().front().getOps<Action>());
  auto count = int64_t(actions.size());
  for (auto [number, action] : llvm::enumerate(actions)) {
    int64_t early = action.getEarly(), late = action.getLate();
    if (early < 0 || early > int64_t(number) || late < 0 || late >= count - int64_t(number))
      return action.emitOpError() << "is action " << number << " of " << count << ", so its window of " << early
                                  << " actions before and " << late << " after it exceeds the program";
  }
  return success();
}

LogicalResult BufferOp::verify() {
  if (getSize() < 0 || getOffset() < 0 || getFirst() > getLast())
    return emitOpError() << "has an invalid size, offset or lifetime: " << getSize() << " bytes at offset "
                         << getOffset() << ", live from action " << getFirst() << " to " << getLast();
  return success();
}

LogicalResult StateOp::verify() {
  StateKind kind = getKind();
  bool isOfBucket = exec::isOfBucket(kind), isNumber = exec::isNumber(kind);
  bool isNamed = kind == StateKind::optimizer || kind == StateKind::counter || kind == StateKind::result;
  auto require = [&](bool has, bool needs, StringRef what) -> LogicalResult {
    if (has == needs)
      return success();
    return emitOpError() << "of kind '" << stringifyStateKind(kind) << "' must " << (needs ? "" : "not ") << "have "
                         << what;
  };
  if (failed(require(getBucket().has_value(), !isNumber, "a bucket")) ||
      failed(require(getGroup().has_value(), kind == StateKind::index, "a group")) ||
      failed(require(getSite().has_value(), kind == StateKind::site, "a site number")) ||
      failed(require(getName().has_value(), isNamed, "a name")))
    return failure();
  bool mayBeSeveral = kind == StateKind::result && getElements() > 0; // counts of classes
  if (getElements() < 0 || (isNumber && ((getElements() != 1 && !mayBeSeveral) || getShard())))
    return emitOpError() << "of kind '" << stringifyStateKind(kind) << "' must "
                         << (isNumber ? "be a single number" : "have at least 0 elements") << ", but has "
                         << getElements() << (getShard() ? " elements of a shard" : " elements");
  Beginning begins = getBegins();
  bool isTable = kind == StateKind::members, isSite = kind == StateKind::site;
  if ((begins == Beginning::index && kind != StateKind::index) || (begins == Beginning::members) != isTable ||
      (begins == Beginning::site) != isSite || (begins == Beginning::parameters && !isOfBucket) ||
      (begins == Beginning::one && !isNumber))
    return emitOpError() << "of kind '" << stringifyStateKind(kind) << "' cannot begin with '"
                         << stringifyBeginning(begins) << "'";
  return success();
}
