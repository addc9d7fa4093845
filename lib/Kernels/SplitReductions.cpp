// See SplitReductions.h.
#include "xlc/Kernels/SplitReductions.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Kernels/Kernels.h"

namespace xlc {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "xlc/Kernels/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// Elements that all chunks of columns have at most together: 2^17 threads of eight.
constexpr int64_t kMostPartial = 1 << 20;
/// Chunks of columns, and of a total: one block adds these up.
constexpr int64_t kMostColumnChunks = 4096, kMostChunks = 1024;

constexpr StringLiteral kPartialSums = "partial sums"; ///< the name of a slot

/// What is summed into one element of the result.
int64_t lengthOf(ReduceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  int64_t length = 1;
  for (int64_t dimension : op.getDimensions())
    length *= shape[dimension];
  return length;
}

int64_t mostOfColumns(int64_t rows, int64_t columns, int64_t fewestRows) {
  if (fewestRows == 0)
    return 1;
  return std::min({rows / fewestRows, std::max<int64_t>(1, kMostPartial / columns), kMostColumnChunks});
}

int64_t mostChunks(ReduceOp op, FewestSummed fewest) {
  int64_t kept = cast<RankedTensorType>(op.getType()).getNumElements();
  if (kept != 1)
    return mostOfColumns(lengthOf(op), kept, fewest.rows);
  return fewest.elements == 0 ? 1 : std::min(lengthOf(op) / fewest.elements, kMostChunks);
}

/// One op after the other from reductions on: whether one of them leads to another.
bool areIndependent(ArrayRef<ReduceOp> reductions) {
  DenseSet<Operation *> after;
  for (Operation &op : *reductions.front()->getBlock()) {
    bool isAfter = llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer && (after.contains(producer) || isa<ReduceOp>(producer));
    });
    if (isAfter && isa<ReduceOp>(op))
      return false;
    if (isAfter)
      after.insert(&op);
  }
  return true;
}

/// Into how many chunks all of them can be cut; 1: not at all.
int64_t chooseChunks(ArrayRef<ReduceOp> reductions, FewestSummed fewest) {
  int64_t chunks = INT64_MAX;
  for (ReduceOp op : reductions)
    chunks = std::min(chunks, mostChunks(op, fewest));
  auto divides = [&](ReduceOp op) { return lengthOf(op) % chunks == 0; };
  while (chunks > 1 && !llvm::all_of(reductions, divides))
    --chunks;
  return std::max<int64_t>(chunks, 1);
}

/// The same reduction of each chunk: of [R, C] a [K, C], of all elements a [K].
Value reduceChunks(OpBuilder &b, ReduceOp op, int64_t chunks) {
  assert(lengthOf(op) % chunks == 0 && "the number of chunks is chosen so");
  assert(
      llvm::equal(op.getDimensions(), llvm::seq<int64_t>(0, op.getDimensions().size())) &&
      "NormalizeReductions leaves sums over columns and over all elements, whose chunks are rows one after the other");
  auto type = cast<RankedTensorType>(op.getX().getType()), result = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> cut{chunks, lengthOf(op) / chunks}, partial{chunks};
  llvm::append_range(cut, result.getShape());
  llvm::append_range(partial, result.getShape());
  Value x = ReshapeOp::create(b, op.getLoc(), type.clone(cut), op.getX());
  return ReduceOp::create(b, op.getLoc(), result.clone(partial), op.getKind(), x, ArrayRef<int64_t>{1});
}

/// Erases what gives nothing, and arguments that nobody reads. Which arguments are left.
SmallVector<unsigned> removeUnused(func::FuncOp kernel) {
  Block &block = kernel.front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  SmallVector<unsigned> left;
  llvm::BitVector unused(block.getNumArguments());
  for (BlockArgument argument : block.getArguments())
    argument.use_empty() ? void(unused.set(argument.getArgNumber())) : left.push_back(argument.getArgNumber());
  block.eraseArguments(unused);
  kernel.setType(
      FunctionType::get(kernel.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return left;
}

/// A name for a function that comes of `kernel`.
std::string nameFor(func::FuncOp kernel, StringRef suffix) {
  std::string name = (kernel.getName() + suffix).str(), first = name;
  for (int n = 2; SymbolTable::lookupNearestSymbolFrom(kernel, StringAttr::get(kernel.getContext(), name)); ++n)
    name = first + std::to_string(n);
  return name;
}

/// Of a kernel over rows that sums columns on its way: what is left to be done with the chunks' sums.
struct CarriedSums {
  func::FuncOp rest;
  SmallVector<unsigned> arguments; ///< which of the kernel's are left
  SmallVector<unsigned> results;   ///< which of the kernel's are partial sums now
};

/// Gives the results of reductions over the first dimension of its arguments.
func::FuncOp makeRest(func::FuncOp kernel, MutableArrayRef<ReduceOp> reductions, ArrayRef<Type> partial) {
  OpBuilder b(kernel->getContext());
  b.setInsertionPointAfter(kernel);
  auto sums = llvm::map_to_vector(reductions, [](ReduceOp op) -> Type { return op.getType(); });
  auto rest = func::FuncOp::create(b, kernel.getLoc(), nameFor(kernel, "_sums"), b.getFunctionType(partial, sums));
  rest.setPrivate();
  exec::setKernelKind(rest, exec::KernelKind::columns);
  Block *block = rest.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> results;
  for (auto [op, argument] : llvm::zip_equal(reductions, block->getArguments()))
    results.push_back(ReduceOp::create(b, op.getLoc(), op.getType(), op.getKind(), argument, ArrayRef<int64_t>{0}));
  func::ReturnOp::create(b, kernel.getLoc(), results);
  return rest;
}

/// None, and nothing is changed, where the kernel sums no columns.
std::optional<CarriedSums> splitCarried(func::FuncOp kernel, FewestSummed fewest) {
  if (exec::findKernelKind(kernel) != exec::KernelKind::rows || fewest.carriedRows == 0)
    return std::nullopt;
  OwningOpRef<func::FuncOp> expanded = kernel.clone();
  expandNamedOps(*expanded);
  CarriedSums carried;
  SmallVector<ReduceOp> reductions;
  SmallVector<Type> partial;
  for (OpOperand &returned : expanded->front().getTerminator()->getOpOperands()) {
    auto op = returned.get().getDefiningOp<ReduceOp>();
    if (!op || op.isOverRow())
      continue;
    OpBuilder b(op);
    int64_t columns = cast<RankedTensorType>(op.getType()).getNumElements();
    returned.set(reduceChunks(b, op, chooseCarriedChunks(lengthOf(op), columns, fewest)));
    carried.results.push_back(returned.getOperandNumber());
    reductions.push_back(op);
    partial.push_back(returned.get().getType());
  }
  if (reductions.empty())
    return std::nullopt;
  carried.rest = makeRest(kernel, reductions, partial);
  kernel.getBody().takeBody(expanded->getBody());
  carried.arguments = removeUnused(kernel);
  return carried;
}

struct SplitReductionsPass : xlc::impl::SplitReductionsPassBase<SplitReductionsPass> {
  explicit SplitReductionsPass(const Target &target) : target(target) {}

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels, functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      (exec::findKernelKind(function) ? kernels : functions).push_back(function);
    for (func::FuncOp kernel : kernels)
      split(kernel);
    for (func::FuncOp function : functions)
      for (auto call : llvm::make_early_inc_range(function.getOps<func::CallOp>()))
        if (auto parts = splits.find(call.getCallee()); parts != splits.end())
          callBoth(call, parts->second);
        else if (auto part = carriers.find(call.getCallee()); part != carriers.end())
          callCarrier(call, part->second);
  }

private:
  void split(func::FuncOp kernel) {
    if (auto made = splitCarried(kernel, target.fewestSummed()))
      carriers[kernel.getName()] = *made;
    else if (auto made = splitReductions(kernel, target.fewestSummed()))
      splits[kernel.getName()] = *made;
  }

  static void callBoth(func::CallOp call, const SplitKernel &split) {
    OpBuilder b(call);
    auto pick = [&](ArrayRef<unsigned> which) {
      return llvm::map_to_vector(which, [&](unsigned i) { return call.getOperand(i); });
    };
    auto partial = func::CallOp::create(b, call.getLoc(), split.partial, pick(split.ofPartial));
    partial->setAttr(exec::kSlotName,
                     b.getArrayAttr(SmallVector<Attribute>(partial.getNumResults(), b.getStringAttr(kPartialSums))));
    SmallVector<Value> arguments = pick(split.ofRest);
    llvm::append_range(arguments, partial.getResults());
    call->setOperands(arguments);
  }

  static void callCarrier(func::CallOp call, const CarriedSums &carried) {
    OpBuilder b(call);
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    assert(kernel && call->hasAttr(exec::kSlotName) && "FormKernels names the kernel, and what a call of it writes");
    auto names = llvm::to_vector(call->getAttrOfType<ArrayAttr>(exec::kSlotName));
    auto operands = llvm::map_to_vector(carried.arguments, [&](unsigned i) { return call.getOperand(i); });
    auto rows = func::CallOp::create(b, call.getLoc(), kernel, operands);
    SmallVector<Value> partial, results(rows.getResults());
    SmallVector<Attribute> namesOfRest;
    for (unsigned i : carried.results) {
      partial.push_back(rows.getResult(i));
      namesOfRest.push_back(std::exchange(names[i], b.getStringAttr(kPartialSums)));
    }
    rows->setAttr(exec::kSlotName, b.getArrayAttr(names));
    auto rest = func::CallOp::create(b, call.getLoc(), carried.rest, partial);
    rest->setAttr(exec::kSlotName, b.getArrayAttr(namesOfRest));
    for (auto [i, sum] : llvm::zip_equal(carried.results, rest.getResults()))
      results[i] = sum;
    call.replaceAllUsesWith(results);
    call.erase();
  }

  const Target &target;
  llvm::StringMap<SplitKernel> splits;
  llvm::StringMap<CarriedSums> carriers;
};

} // namespace

int64_t xlc::chooseCarriedChunks(int64_t rows, int64_t columns, FewestSummed fewest) {
  int64_t chunks = mostOfColumns(rows, columns, fewest.carriedRows);
  while (chunks > 1 && rows % chunks != 0)
    --chunks;
  return std::max<int64_t>(1, chunks);
}

std::optional<SplitKernel> xlc::splitReductions(func::FuncOp kernel, FewestSummed fewest) {
  assert(exec::findKernelKind(kernel) && "FormKernels has marked each kernel with its execution");
  exec::KernelKind kind = *exec::findKernelKind(kernel);
  if (kind != exec::KernelKind::columns && kind != exec::KernelKind::all)
    return std::nullopt;
  OwningOpRef<func::FuncOp> expanded = kernel.clone();
  expandNamedOps(*expanded);
  auto reductions = llvm::to_vector(expanded->getOps<ReduceOp>());
  int64_t chunks = reductions.empty() || !areIndependent(reductions) ? 1 : chooseChunks(reductions, fewest);
  if (chunks == 1)
    return std::nullopt;

  OpBuilder b(kernel);
  func::FuncOp partial = expanded->clone();
  std::string name = nameFor(kernel, "_partial");
  b.insert(partial);
  partial.setName(name);
  exec::setKernelKind(partial, kind == exec::KernelKind::all ? exec::KernelKind::rows : kind);
  SmallVector<Value> sums;
  for (ReduceOp op : partial.getOps<ReduceOp>()) {
    b.setInsertionPoint(op); // what is made before it is not visited
    sums.push_back(reduceChunks(b, op, chunks));
  }
  partial.front().getTerminator()->setOperands(sums);

  Block &rest = expanded->front();
  for (auto [op, sum] : llvm::zip_equal(reductions, sums)) {
    b.setInsertionPoint(op);
    Value argument = rest.addArgument(sum.getType(), op.getLoc());
    op.replaceAllUsesWith(
        ReduceOp::create(b, op.getLoc(), op.getType(), op.getKind(), argument, ArrayRef<int64_t>{0}).getResult());
  }
  kernel.getBody().takeBody(expanded->getBody());
  unsigned before = kernel.front().getNumArguments() - sums.size();
  SplitKernel split{partial, removeUnused(partial), removeUnused(kernel)};
  llvm::erase_if(split.ofRest, [&](unsigned i) { return i >= before; });
  return split;
}

std::unique_ptr<Pass> xlc::createSplitReductionsPass(const Target &target) {
  return std::make_unique<SplitReductionsPass>(target);
}
