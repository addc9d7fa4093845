// Assigns slots. The pass decides once, for all runs of a function, which values share memory.
//   - A view is its root's slot under strides; so is a value with gaps after its rows (RowPitches.h).
//   - The operands of a concat are written directly into it: dq, dk, dv are columns of one buffer. If runs add to the
//     concat, they add to its pieces.
//   - A value exchanged between ranks is reduced in place if the rank's own part is not read afterwards.
//   - A rank's index in a group is a slot that every run binds to the same eight bytes; so is the loss scale.
//   - A kernel may overwrite an operand that dies with it, element by element: the gradient of the logits replaces the
//     logits. If the result already has a place outside the function, the operand is computed there.
#include "SlotFunction.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Kernels/Views.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

namespace {

MemRefType memoryOf(RankedTensorType type) { return MemRefType::get(type.getShape(), type.getElementType()); }

/// Memory of a value: a layout relative to the first element of a slot.
struct Storage {
  Value slot;
  MemoryLayout layout;
};

class SlotFunction {
public:
  SlotFunction(func::FuncOp function, const SymbolTable &kernels, const Signature &signature, const RowPitches &pitches,
               const Target &target, int threads)
      : old(function), kernels(kernels), signature(signature), pitches(pitches), target(target), threads(threads),
        builder(function), body(function.getContext()),
        callsLeft(llvm::range_size(function.front().getOps<func::CallOp>())) {}

  FailureOr<func::FuncOp> run() {
    if (failed(checkTypes()))
      return failure();
    fresh = func::FuncOp::create(builder, old.getLoc(), old.getName(), builder.getFunctionType({}, {}));
    fresh.setPrivate();
    body = OpBuilder::atBlockEnd(fresh.addEntryBlock());
    assignBorder();
    for (Operation &op : llvm::reverse(old.front()))
      if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
        assignInPlace(reduce);
    for (Operation &op : llvm::reverse(old.front()))
      if (auto concat = dyn_cast<graph::ConcatOp>(op))
        assignPieces(concat);
    findLastUses();
    for (Operation &op : llvm::reverse(old.front()))
      if (auto call = dyn_cast<func::CallOp>(op))
        assignOverwritten(call);
    for (Operation &op : old.front()) {
      if (auto call = dyn_cast<func::CallOp>(op); call && failed(lower(call)))
        return failure();
      if (isOutsideKernels(&op))
        lowerExchange(&op);
    }
    func::ReturnOp::create(body, old.getLoc());
    fresh.setType(builder.getFunctionType(fresh.front().getArgumentTypes(), {}));
    graph::SignatureAttributes attributes(fresh);
    for (auto [i, name] : llvm::enumerate(names))
      attributes.setArgument(i, exec::kSlotName, builder.getStringAttr(name));
    for (auto [slot, what] : held)
      attributes.setArgument(slot, what.first, what.second);
    old.erase();
    return fresh;
  }

private:
  /// Whether the target has elements of all types that lie in memory.
  LogicalResult checkTypes() {
    auto check = [&](Location loc, TypeRange types) -> LogicalResult {
      for (Type type : types)
        if (Type element = getElementTypeOrSelf(type); !target.hasElementType(element))
          return emitError(loc) << "target '" << target.name() << "' does not support elements of type " << element;
      return success();
    };
    if (failed(check(old.getLoc(), old.getArgumentTypes())))
      return failure();
    for (Operation &op : old.front())
      if (failed(check(op.getLoc(), op.getResultTypes())))
        return failure();
    return success();
  }

  Value addSlot(MemRefType type, StringRef name) {
    names.push_back(name.str());
    return fresh.front().addArgument(type, old.getLoc());
  }

  void store(Value value, Value slot) { storage[value] = {slot, pitches.layoutOf(value)}; }

  /// The name of a kernel result, as its call knows it.
  StringRef nameOf(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (result && isOutsideKernels(result.getOwner()))
      return graph::getSourceName(result.getOwner());
    auto call = result ? dyn_cast<func::CallOp>(result.getOwner()) : func::CallOp();
    auto known = call ? call->getAttrOfType<ArrayAttr>(exec::kSlotName) : ArrayAttr();
    return known ? cast<StringAttr>(known[result.getResultNumber()]).getValue() : StringRef();
  }

  /// Slots of arguments, then of results.
  void assignBorder() {
    for (BlockArgument argument : old.getArguments())
      store(argument, addSlot(pitches.slotOf(argument), ""));
    auto results = old.front().getTerminator()->getOperands();
    for (auto [i, returned] : llvm::enumerate(results)) {
      Value root = findLayout(returned).root;
      store(root, addSlot(pitches.hasGaps(root) ? pitches.slotOf(root) : memoryOf(typeOf(returned)), nameOf(root)));
      border.insert(root);
      if (int64_t index = i + signature.stores - results.size(); index >= 0)
        accumulate[root] = signature.accumulate[index];
    }
  }

  Storage &storageOf(Value root) {
    auto it = storage.find(root);
    if (it == storage.end()) {
      store(root, addSlot(pitches.slotOf(root), nameOf(root)));
      it = storage.find(root);
    }
    return it->second;
  }

  /// An operand that only the all_reduce reads is made where the sum will be.
  void assignInPlace(dist::AllReduceOp reduce) {
    Value root = reduce.getX();
    while (root.getDefiningOp<graph::ReshapeOp>() && root.hasOneUse())
      root = root.getDefiningOp()->getOperand(0);
    Operation *op = root.getDefiningOp();
    if (!op || !root.hasOneUse() || !(isa<func::CallOp>(op) || isOutsideKernels(op)) || isHeld(op))
      return;
    storage[root] = {storageOf(reduce.getY()).slot, MemoryLayout::whole(root)};
  }

  /// Operands of a concat become columns (or rows) of its memory, undoing reshapes on the way.
  void assignPieces(graph::ConcatOp concat) {
    Storage whole = storageOf(concat.getY());
    int64_t at = 0, dimension = concat.getDimension();
    for (Value operand : concat.getXs()) {
      MemoryLayout piece = whole.layout;
      piece.offset += at * piece.strides[dimension];
      piece.sizes.assign(typeOf(operand).getShape().begin(), typeOf(operand).getShape().end());
      at += typeOf(operand).getDimSize(dimension);
      Value root = operand;
      while (auto reshape = root.getDefiningOp<graph::ReshapeOp>())
        root = reshape.getX();
      if (root != operand) { // in one go: a stride may survive the way there and back only as a whole
        piece.strides = *reshapeStrides(piece.sizes, piece.strides, typeOf(root).getShape());
        piece.sizes.assign(typeOf(root).getShape().begin(), typeOf(root).getShape().end());
      }
      piece.root = root;
      storage[root] = {whole.slot, piece};
      accumulate[root] = accumulate.lookup(concat.getY());
      border.insert(root);
    }
    border.insert(concat.getY());
  }

  void findLastUses() {
    for (Operation &op : old.front())
      if (isa<func::CallOp>(op) || isOutsideKernels(&op))
        for (Value operand : op.getOperands())
          lastUse[findLayout(operand).root] = &op;
  }

  Storage find(Value value) {
    if (storage.contains(value))
      return storage[value];
    Operation *op = value.getDefiningOp();
    if (isView(value)) {
      Storage source = find(op->getOperand(0));
      if (std::optional<MemoryLayout> layout = viewThrough(op, source.layout))
        return {source.slot, *layout};
    }
    return storageOf(value);
  }

  /// The memref of a value: its slot, or a view of it.
  Value memory(Value value) {
    Storage place = find(value);
    auto slotType = cast<MemRefType>(place.slot.getType());
    MemRefType type = place.layout.getMemory();
    if (place.layout.offset == 0 && type == slotType)
      return place.slot;
    return exec::ViewOp::create(body, value.getLoc(), type, place.slot, place.layout.offset);
  }

  LogicalResult lower(func::CallOp call) {
    auto kernel = kernels.lookup<func::FuncOp>(call.getCallee());
    overwriteOperand(call, kernel);
    SmallVector<Value> ins, outs;
    SmallVector<int32_t> modes;
    for (Value operand : call.getOperands())
      ins.push_back(memory(operand));
    for (Value result : call.getResults()) {
      outs.push_back(memory(result));
      modes.push_back(accumulate.lookup(result));
    }
    FailureOr<int64_t> bytes = workspace(call, kernel, ins, outs);
    if (failed(bytes))
      return failure();
    bool isApart = --callsLeft < countApart(old);
    Value scratch = *bytes ? scratchOf(*bytes, isApart) : Value();
    exec::CallOp::create(body, call.getLoc(), call.getCalleeAttr(), ins, outs, scratch,
                         body.getDenseI32ArrayAttr(modes));
    return success();
  }

  /// Calls that are set apart share it: beside others, all slots of a run are live from its begin to its end.
  Value scratchOf(int64_t bytes, bool isApart) {
    auto type = MemRefType::get({bytes}, builder.getI8Type());
    if (!isApart)
      return addSlot(type, "workspace");
    if (!shared)
      shared = addSlot(type, "workspace");
    if (cast<MemRefType>(shared.getType()).getNumElements() < bytes)
      shared.setType(type);
    return exec::ViewOp::create(body, shared.getLoc(), type, shared, 0);
  }

  /// A collective on runs of the memory, or the slot of what is held.
  void lowerExchange(Operation *op) {
    using Kind = dist::CollectiveKind;
    if (auto index = dyn_cast<dist::AxisIndexOp>(op)) {
      auto slot = cast<BlockArgument>(storageOf(index.getY()).slot);
      held.push_back({slot.getArgNumber(), {exec::kIndex, index.getGroup()}});
      return;
    }
    if (auto number = dyn_cast<graph::StepNumberOp>(op)) {
      auto slot = cast<BlockArgument>(storageOf(number.getY()).slot);
      held.push_back({slot.getArgNumber(), {exec::kStepNumber, number.getNumberAttr()}});
      return;
    }
    if (auto turn = dyn_cast<dist::AllToAllOp>(op))
      return lowerAllToAll(turn);
    auto create = [&](Kind kind, dist::GroupAttr group, int64_t outer, int64_t chunk) {
      Value src = memory(op->getOperand(0)), dst = memory(op->getResult(0));
      exec::CollectiveOp::create(body, op->getLoc(), kind, src, dst, group, outer, chunk);
    };
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) {
      Kind kind = reduce.getKind() == dist::Reduction::max ? Kind::all_reduce_max : Kind::all_reduce;
      return create(kind, reduce.getGroup(), 1, typeOf(reduce.getX()).getNumElements());
    }
    auto regroup = [&](Kind kind, auto typed, Value piece) {
      ArrayRef<int64_t> shape = typeOf(piece).getShape();
      int64_t outer = typed.getOuter();
      for (int64_t size : shape.take_front(typed.getDim()))
        outer *= size;
      create(kind, typed.getGroup(), outer, outer ? typeOf(piece).getNumElements() / outer : 0);
    };
    if (auto gather = dyn_cast<dist::AllGatherOp>(op))
      regroup(Kind::all_gather, gather, gather.getX());
    else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op))
      regroup(Kind::reduce_scatter, scatter, scatter.getY());
  }

  /// Seen as [outer, rows, ranks, chunk] and [outer, ranks, rows, chunk]: what stands above both dimensions, between
  /// them, and below both.
  void lowerAllToAll(dist::AllToAllOp op) {
    RankedTensorType x = typeOf(op.getX());
    int64_t from = op.getFrom(), to = op.getTo(), first = std::min(from, to), last = std::max(from, to);
    int64_t ranks = op.getGroup().size(), outer = from < to ? op.getFromOuter() : op.getToOuter();
    int64_t inner = from < to ? op.getToOuter() : op.getFromOuter();
    for (int64_t size : x.getShape().take_front(first))
      outer *= size;
    int64_t chunk = x.getDimSize(last) / inner / (to == last ? ranks : 1);
    for (int64_t size : x.getShape().drop_front(last + 1))
      chunk *= size;
    int64_t elements = x.getNumElements(), others = outer * chunk * ranks;
    exec::CollectiveOp::create(body, op.getLoc(), dist::CollectiveKind::all_to_all, memory(op.getX()),
                               memory(op.getY()), op.getGroup(), outer, chunk, others ? elements / others : 1,
                               /*ranks_first=*/to < from);
  }

  /// Whether a kernel reads, for each element that it writes, only the same element of this argument. What it reduces of a
  /// row, or adds to sums of columns, it has before it writes the row's first element.
  static bool isReadElementWise(BlockArgument argument, exec::KernelKind kind) {
    llvm::SetVector<Value> reached;
    reached.insert(argument);
    for (size_t i = 0; i < reached.size(); ++i)
      for (OpOperand &use : reached[i].getUses()) {
        Operation *user = use.getOwner();
        if (kind == exec::KernelKind::rows && graph::isReducedAlone(user))
          continue;
        bool isReturned = isa<func::ReturnOp>(user);
        if (isReturned ? i == 0 : !graph::readsOwnElement(use))
          return false;
        reached.insert_range(user->getResults());
      }
    return true;
  }

  /// Whether nobody needs an operand of the call afterwards, and a result of its type may be written over it.
  bool isOverwritable(Value operand, func::CallOp call, func::FuncOp kernel) {
    std::optional<exec::KernelKind> kind = exec::findKernelKind(kernel);
    if (kind != exec::KernelKind::loop && kind != exec::KernelKind::rows)
      return false;
    auto isRoot = [&](Value other) { return findLayout(other).root == operand; };
    auto place = llvm::find(call.getOperands(), operand);
    return llvm::count_if(call.getOperands(), isRoot) == 1 && lastUse.lookup(operand) == call &&
           isReadElementWise(kernel.getArgument(place - call.getOperands().begin()), *kind);
  }

  /// Made by a call or an exchange of this function, and seen by nobody else.
  bool isTemporary(Value operand) const {
    Operation *maker = operand.getDefiningOp();
    return maker && (isa<func::CallOp>(maker) || isOutsideKernels(maker)) && !isHeld(maker) &&
           !border.contains(operand);
  }

  /// Whether elements of one are as many, as large, and lie as those of the other.
  bool isAlike(Value operand, Value result) const {
    return operand.getType() == result.getType() && pitches.hasGaps(operand) == pitches.hasGaps(result);
  }

  /// Whether a library's product makes it with an epilogue, or reads it in one: what it has beside its result lies as that does.
  bool isBesideProduct(Value value) const {
    auto hasBeside = [&](Operation *op) {
      auto call = dyn_cast_or_null<func::CallOp>(op);
      Operation *done = call ? findLibraryOp(kernels.lookup<func::FuncOp>(call.getCallee())) : nullptr;
      return done && findEpilogue(done).hasBeside();
    };
    return hasBeside(value.getDefiningOp()) || llvm::any_of(value.getUsers(), hasBeside);
  }

  /// A temporary that a result for others is written over is made where they see it.
  void assignOverwritten(func::CallOp call) {
    auto kernel = kernels.lookup<func::FuncOp>(call.getCallee());
    for (Value result : call.getResults())
      for (Value operand : call.getOperands())
        if (isAlike(operand, result) && storage.contains(result) && !accumulate.contains(result) &&
            isTemporary(operand) && !storage.contains(operand) && isOverwritable(operand, call, kernel)) {
          if (Storage place = storage[result]; place.layout.isContiguous() || !isBesideProduct(operand))
            storage[operand] = place; // a copy: the map moves as it grows
          break;
        }
  }

  /// Lets a result take the place of an operand that nobody reads afterwards.
  void overwriteOperand(func::CallOp call, func::FuncOp kernel) {
    if (call.getNumResults() != 1 || storage.contains(call.getResult(0)))
      return;
    for (Value operand : call.getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      bool isActivation =
          argument && argument.getArgNumber() < signature.dies.size() && signature.dies[argument.getArgNumber()];
      if ((!isActivation && !isTemporary(operand)) || !isAlike(operand, call.getResult(0)) ||
          !isOverwritable(operand, call, kernel))
        continue;
      store(call.getResult(0), storageOf(operand).slot);
      return;
    }
  }

  /// Scratch of a library call; an error where it cannot take the layouts.
  FailureOr<int64_t> workspace(func::CallOp call, func::FuncOp kernel, ValueRange ins, ValueRange outs) {
    Operation *op = findLibraryOp(kernel);
    if (!op)
      return 0;
    auto typeOf = [](Value value) { return cast<MemRefType>(value.getType()); };
    SmallVector<MemRefType> memory =
        memoryOfLibraryOp(op, llvm::map_to_vector(ins, typeOf), llvm::map_to_vector(outs, typeOf));
    LibraryCall asked{op, memory, findEpilogue(op)};
    if (!target.fits(asked))
      return call.emitError() << "no library call supports the layouts of the operands and results";
    return target.workspace(asked, threads);
  }

  func::FuncOp old, fresh;
  const SymbolTable &kernels;
  const Signature &signature;
  const RowPitches &pitches;
  const Target &target;
  int threads;
  OpBuilder builder, body;
  int64_t callsLeft; ///< to lower
  llvm::DenseMap<Value, Storage> storage;
  llvm::DenseMap<Value, int32_t> accumulate; ///< exec::Accumulate of stores and of their pieces
  llvm::DenseSet<Value> border;              ///< values whose memory others see: results, pieces of a concat
  llvm::DenseMap<Value, Operation *> lastUse;
  Value shared; ///< workspace of calls that are set apart
  /// Slots of what is held, and what they say of it.
  SmallVector<std::pair<unsigned, std::pair<StringRef, Attribute>>> held;
  SmallVector<std::string> names;
};

} // namespace

FailureOr<func::FuncOp> xlc::lowerToSlots(func::FuncOp function, const SymbolTable &kernels, const Signature &signature,
                                          const RowPitches &pitches, const Target &target, int threads) {
  return SlotFunction(function, kernels, signature, pitches, target, threads).run();
}
