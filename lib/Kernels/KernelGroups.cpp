// Grouping is greedy and in program order. An op joins the last kernel that any of its operands depends on, if that
// kernel can compute it too; otherwise it begins a new one. Since kernels run in the order in which they were begun, an
// op may join kernel k as soon as all its operands are available when k runs.
//
//   k0 contract+bias    k1 add, layer_norm (rows)    k2 contract+bias    k3 gelu (loop) ...
//
// Four sorts of op do not form kernels of their own: views (strides), cheap sources (constants, broadcasts: recomputed
// wherever they are read), concats whose operands are written in place, and exchanges between ranks (the dist dialect).
// A sum over columns joins a kernel over the same rows that reads or computes its operand: that kernel accumulates the
// sum while it runs (SplitReductions.h), and a user of the sum begins a new kernel.
//
// A kernel never waits for another rank: an op that depends on an exchange begins a new kernel. Exchanges keep their
// order, so all ranks reach them in the same order.
#include "KernelGroups.h"
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Kernels/LibraryCalls.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using Kind = exec::KernelKind;
using Form = KernelGroup::Form;

namespace {

/// The kernel an op would be on its own.
KernelGroup describe(Operation *op) {
  auto over = [](Value x) { return SmallVector<int64_t>(shapeOf(x)); };
  if (op->hasTrait<Rowwise>())
    return {Form::Kernel, Kind::rows, over(op->getOperand(0)), {}};
  if (op->hasTrait<Columnwise>())
    return {Form::Kernel, Kind::columns, over(op->getOperand(0)), {}};
  if (isa<SumSquaresOp>(op))
    return {Form::Kernel, Kind::all, over(op->getOperand(0)), {}};
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t rank = shapeOf(reduce.getX()).size();
    if ((int64_t)reduce.getDimensions().size() == rank)
      return {Form::Kernel, Kind::all, over(reduce.getX()), {}};
    return reduce.isOverRow() ? KernelGroup{Form::Kernel, Kind::rows, over(reduce.getX()), {}}
                              : KernelGroup{Form::Kernel, Kind::columns, over(reduce.getX()), {}};
  }
  if (shapeOf(op->getResult(0)).empty())
    return {Form::Kernel, Kind::all, {}, {}};
  return {Form::Kernel, Kind::loop, over(op->getResult(0)), {}};
}

/// Whether the op, alone a kernel `fresh`, reads elements at other indices than those it writes. What reduces has loops
/// for that.
bool readsElsewhere(Operation *op, const KernelGroup &fresh) {
  bool reduces = fresh.kind != Kind::loop && !fresh.domain.empty();
  return !reduces && !op->hasTrait<ReadsOwnElement>();
}

SmallVector<MemRefType> memoryOf(Operation *op) {
  SmallVector<MemRefType> memory;
  for (Value operand : op->getOperands())
    memory.push_back(findLayout(operand).getMemory());
  for (Value result : op->getResults())
    memory.push_back(MemoryLayout::whole(result).getMemory());
  return memory;
}

/// What a chain of reshapes, each read once, begins with.
Value skipReshapes(Value value) {
  while (value.getDefiningOp<ReshapeOp>() && value.hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Whether nobody reads `value`, nor what it is a view of, but one op.
bool isReadOnce(Value value) {
  while (value.hasOneUse() && isView(value))
    value = value.getDefiningOp()->getOperand(0);
  return value.hasOneUse();
}

} // namespace

bool KernelGroups::isInline(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  bool isSource = op->getNumOperands() == 0 && !isOutsideKernels(op);
  return isSource || isa<BroadcastOp>(op) || isWidening(op) || (op->hasTrait<View>() && isInline(op->getOperand(0)));
}

KernelGroups::KernelGroups(func::FuncOp function, ArrayRef<bool> accumulates, const Target &target)
    : function(function), target(target) {
  returnResultsOnly(accumulates);
  for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator()))
    add(&op);
  for (Value returned : function.front().getTerminator()->getOperands())
    materialize(returned);
}

/// What is returned must be a kernel's own result: arguments, views of them and second names are copied. A rank's index
/// has memory of its own; an exchange, attention and a scatter into a base cannot add to what is there, nor can the library to sixteen bits.
/// Where a run adds, the memory holds the sum over runs: what else needs the value has it from a copy, which is made at
/// once, so that one temporary is gone when the next one comes.
void KernelGroups::returnResultsOnly(ArrayRef<bool> accumulates) {
  DenseSet<Value> roots;
  Operation *terminator = function.front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands()) {
    MemoryLayout layout = findLayout(returned.get());
    Operation *root = layout.root.getDefiningOp();
    bool isWhole = layout.isContiguous() && cast<RankedTensorType>(layout.root.getType()).getNumElements() ==
                                                cast<RankedTensorType>(returned.get().getType()).getNumElements();
    int64_t store = (int64_t)(returned.getOperandNumber() + accumulates.size()) - terminator->getNumOperands();
    bool adds = store >= 0 && accumulates[store];
    bool isForeign = root && (isHeld(root) || (store >= 0 && isOutsideKernels(root)));
    bool cannotAdd = root && (root->hasTrait<Attention>() || isa<ScatterElementsOp>(root) ||
                              (root->hasTrait<LibraryKernel>() && isNarrow(typeOf(returned.get()).getElementType())));
    bool isTemporary = root && adds && (cannotAdd || !isReadOnce(returned.get()));
    if (!root || !isWhole || isForeign || isTemporary || !roots.insert(layout.root).second)
      returned.set(
          copy(returned.get(), isTemporary && cannotAdd ? returned.get().getDefiningOp()->getNextNode() : terminator));
    if (adds)
      sums.insert(findLayout(returned.get()).root);
  }
}

Value KernelGroups::copy(Value value, Operation *before) {
  OpBuilder builder(before);
  return CastOp::create(builder, before->getLoc(), value.getType(), value);
}

int64_t KernelGroups::readiness(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return -1;
  if (auto it = groupOf.find(op); it != groupOf.end())
    return it->second;
  int64_t latest = -1;
  for (Value operand : op->getOperands())
    latest = std::max(latest, readiness(operand));
  return latest;
}

int64_t KernelGroups::create(KernelGroup group, Operation *op) {
  groups.push_back(std::move(group));
  groups.back().ops.insert(op);
  groupOf[op] = groups.size() - 1;
  return groups.size() - 1;
}

void KernelGroups::add(Operation *op) {
  if (isInline(op->getResult(0)) || isView(op->getResult(0)) || groupOf.contains(op))
    return;
  if (op->hasTrait<LibraryKernel>())
    return addLibrary(op);
  if (addExchange(op) || addEpilogue(op) || addConcat(op))
    return;
  addFused(op);
}

/// Gives a cheap value memory of its own.
void KernelGroups::materialize(Value value) {
  Value root = findLayout(value).root;
  Operation *op = root.getDefiningOp();
  if (op && isInline(root) && !groupOf.contains(op))
    create({Form::Kernel, shapeOf(root).empty() ? Kind::all : Kind::loop, SmallVector<int64_t>(shapeOf(root)), {}}, op);
}

void KernelGroups::replaceByCopy(OpOperand &operand) {
  operand.set(copy(operand.get(), operand.getOwner()));
  addFused(operand.get().getDefiningOp());
}

/// Views that the library cannot take become copies.
void KernelGroups::copyOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (target.fits({op, memoryOf(op)}))
      return;
    if (!findLayout(operand.get()).isContiguous())
      replaceByCopy(operand);
  }
}

void KernelGroups::addLibrary(Operation *op) {
  for (Value operand : op->getOperands())
    materialize(operand);
  copyOperands(op);
  create({}, op);
}

/// Ranks exchange memory: operands are contiguous and there. What is held has none.
bool KernelGroups::addExchange(Operation *op) {
  if (!isOutsideKernels(op))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    materialize(operand.get());
    if (!findLayout(operand.get()).isContiguous())
      replaceByCopy(operand);
  }
  create({.form = Form::Exchange}, op);
  return true;
}

/// A product and what follows it are one library call where the library has such an epilogue.
bool KernelGroups::addEpilogue(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto contract = operand.getDefiningOp<ContractOp>();
    if (!contract || groups[groupOf[contract]].ops.size() > 1)
      continue;
    for (const EpilogueOps &each : findEpilogues(contract)) {
      if (!fitsEpilogue(contract, each))
        continue;
      KernelGroup &group = groups[groupOf[contract]];
      group.epilogue = each.epilogue;
      for (Operation *added : each.ops) {
        group.ops.insert(added);
        groupOf[added] = groupOf[contract];
      }
      return true;
    }
  }
  return false;
}

/// Whether the library, as it runs the product, can go on so: what it reads is in memory by then, and each an argument of its own.
bool KernelGroups::fitsEpilogue(ContractOp contract, const EpilogueOps &epilogue) {
  int64_t group = groupOf[contract];
  auto isThere = [&](Value value) {
    Operation *root = findLayout(value).root.getDefiningOp();
    bool isMade = !root || groupOf.contains(root); // what comes later in the function has no kernel yet
    return isMade && !isInline(value) && readiness(value) <= group && !isMadeIn(value, group) &&
           value != contract.getA() && value != contract.getB();
  };
  bool isAdded = sums.contains(epilogue.result) || (epilogue.beside && sums.contains(epilogue.beside));
  if (isAdded && (epilogue.beside || isNarrow(typeOf(epilogue.result).getElementType())))
    return false; // it writes, and does not add to what is there
  bool writesBeside = epilogue.epilogue.activation == runtime::Activation::Gelu;
  if ((epilogue.bias && !(isThere(epilogue.bias) && findLayout(epilogue.bias).isContiguous())) ||
      (epilogue.beside && !writesBeside && !isThere(epilogue.beside)))
    return false;
  SmallVector<MemRefType> memory = memoryOf(contract);
  memory.back() = MemoryLayout::whole(epilogue.result).getMemory();
  if (epilogue.beside)
    memory.push_back((writesBeside ? MemoryLayout::whole(epilogue.beside) : findLayout(epilogue.beside)).getMemory());
  return target.fits({contract, memory, epilogue.epilogue});
}

/// Whether each operand is a result of this function that nobody else reads.
bool KernelGroups::canBePieces(ConcatOp concat) {
  DenseSet<Value> roots;
  MemoryLayout whole = MemoryLayout::whole(concat.getY());
  for (Value operand : concat.getXs()) {
    if (operand.hasOneUse() && !reshapeStrides(shapeOf(operand), whole.strides, shapeOf(skipReshapes(operand))))
      return false;
    bool isReadOnce = operand.hasOneUse() && skipReshapes(operand).hasOneUse();
    operand = skipReshapes(operand);
    Operation *root = operand.getDefiningOp();
    bool isOwn = isReadOnce && root && groupOf.contains(root) && !isa<ConcatOp>(root) && roots.insert(operand).second;
    bool cannotAdd = isOwn && root->hasTrait<Attention>() && sums.contains(concat.getY());
    if (!isOwn || isa<ContractOp>(root) || isOutsideKernels(root) || cannotAdd || !findLayout(operand).isContiguous())
      return false;
  }
  return true;
}

/// Whether what makes `value` can write it where a concat keeps it: a library may want it elsewhere.
bool KernelGroups::fitsAsPiece(Value operand, Value value, const MemoryLayout &whole) {
  const KernelGroup &group = groups[groupOf[value.getDefiningOp()]];
  if (group.kind != Kind::library)
    return true;
  Operation *op = group.ops.front();
  if (group.epilogue.hasBeside())
    return false; // what lies beside a result lies as it does
  SmallVector<MemRefType> memory = memoryOf(op);
  MemoryLayout piece = MemoryLayout::whole(value);
  piece.strides = *reshapeStrides(shapeOf(operand), whole.strides, shapeOf(value));
  memory[op->getNumOperands() + (group.epilogue.bias ? 0 : cast<OpResult>(value).getResultNumber())] =
      piece.getMemory();
  return target.fits({op, memory, group.epilogue});
}

/// A concat whose operands can be its pieces is free: they are written in place. What a library makes, and cannot
/// write there, is copied.
bool KernelGroups::addConcat(Operation *op) {
  auto concat = dyn_cast<ConcatOp>(op);
  if (!concat || !canBePieces(concat))
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (!fitsAsPiece(operand.get(), skipReshapes(operand.get()), MemoryLayout::whole(concat.getY())))
      replaceByCopy(operand);
  create({.form = Form::Concat}, op);
  return true;
}

bool KernelGroups::isMadeIn(Value value, int64_t group) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto it = groupOf.find(op); it != groupOf.end())
    return it->second == group;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeIn(operand, group); });
}

/// Whether kernel `group` can read `value` at the point of its iteration: it comes from outside, is made by one of its
/// own ops, or is a row's value repeated along the row.
bool KernelGroups::isReadableInside(Value value, int64_t group) {
  if (!isMadeIn(value, group))
    return true;
  Operation *op = value.getDefiningOp();
  if (groupOf.contains(op))
    return !carried.contains(op);
  if (isWidening(op))
    return isReadableInside(op->getOperand(0), group);
  auto broadcast = dyn_cast<BroadcastOp>(op);
  auto reshape = broadcast ? broadcast.getX().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!reshape || groups[group].kind != Kind::rows || shapeOf(value) != ArrayRef<int64_t>(groups[group].domain))
    return false;
  SmallVector<int64_t> rows(ArrayRef(groups[group].domain).drop_back());
  bool isRowValue =
      shapeOf(reshape.getX()) == ArrayRef<int64_t>(rows) && groupOf.contains(reshape.getX().getDefiningOp());
  rows.push_back(1);
  return isRowValue && shapeOf(reshape.getY()) == ArrayRef<int64_t>(rows);
}

bool KernelGroups::canJoin(Operation *op, const KernelGroup &fresh, int64_t index) {
  const KernelGroup &group = groups[index];
  if (readsElsewhere(op, fresh) &&
      llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeIn(operand, index); }))
    return false;
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return isReadableInside(operand, index); }))
    return false;
  if (group.kind == Kind::all)
    return fresh.kind == Kind::all && fresh.domain.empty();
  bool isRowValue = group.kind == Kind::rows && fresh.kind == Kind::loop &&
                    ArrayRef(fresh.domain) == ArrayRef(group.domain).drop_back();
  bool isSameDomain = fresh.domain == group.domain && !group.domain.empty();
  bool areRowLike =
      (group.kind == Kind::loop || group.kind == Kind::rows) && (fresh.kind == Kind::loop || fresh.kind == Kind::rows);
  return areRowLike && (isSameDomain || isRowValue);
}

void KernelGroups::addFused(Operation *op) {
  KernelGroup fresh = describe(op);
  int64_t latest = -1;
  for (Value operand : op->getOperands())
    latest = std::max(latest, readiness(operand));
  if (int64_t carrier = findCarrier(op, fresh, latest); carrier >= 0) {
    groups[carrier].ops.insert(op);
    groupOf[op] = carrier;
    carried.insert(op);
    return;
  }
  if (latest < 0 || !canJoin(op, fresh, latest)) {
    create(std::move(fresh), op);
    return;
  }
  KernelGroup &group = groups[latest];
  if (fresh.kind == Kind::rows)
    group.kind = Kind::rows;
  group.ops.insert(op);
  groupOf[op] = latest;
}
