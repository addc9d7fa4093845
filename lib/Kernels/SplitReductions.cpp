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
/// Chunks of columns that are summed at once: a thread adds its columns' up one after the other. More are cut again.
constexpr int64_t kMostColumnChunks = 128;
/// Chunks of a total at most: one thread or block adds these up.
constexpr int64_t kMostChunks = 1024;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// What is summed into one element of the result.
int64_t lengthOf(ReduceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  int64_t length = 1;
  for (int64_t dimension : op.getDimensions())
    length *= shape[dimension];
  return length;
}

int64_t mostChunks(ReduceOp op, FewestSummed fewest) {
  int64_t kept = cast<RankedTensorType>(op.getType()).getNumElements();
  int64_t least = kept == 1 ? fewest.elements : fewest.rows;
  if (least == 0)
    return 1;
  return std::min(lengthOf(op) / least, kept == 1 ? kMostChunks : std::max<int64_t>(1, kMostPartial / kept));
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

struct SplitReductionsPass : xlc::impl::SplitReductionsPassBase<SplitReductionsPass> {
  explicit SplitReductionsPass(const Target &target) : target(target) {}

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (exec::findKernelKind(function))
        kernels.push_back(function);
    while (!kernels.empty())
      kernels = split(kernels);
  }

private:
  /// Which are to be split again.
  SmallVector<func::FuncOp> split(ArrayRef<func::FuncOp> kernels) {
    llvm::StringMap<SplitKernel> split;
    SmallVector<func::FuncOp> again;
    for (func::FuncOp kernel : kernels)
      if (auto made = splitReductions(kernel, target.fewestSummed())) {
        split[kernel.getName()] = *made;
        if (hasManyChunks(kernel))
          again.push_back(kernel);
      }
    getOperation().walk([&](func::CallOp call) {
      if (auto found = split.find(call.getCallee()); found != split.end())
        callBoth(call, found->second);
    });
    return again;
  }

  static bool hasManyChunks(func::FuncOp kernel) {
    return *exec::findKernelKind(kernel) == exec::KernelKind::columns &&
           llvm::any_of(kernel.getOps<ReduceOp>(), [](ReduceOp op) { return lengthOf(op) > kMostColumnChunks; });
  }

  static void callBoth(func::CallOp call, const SplitKernel &split) {
    OpBuilder b(call);
    auto pick = [&](ArrayRef<unsigned> which) {
      return llvm::map_to_vector(which, [&](unsigned i) { return call.getOperand(i); });
    };
    auto partial = func::CallOp::create(b, call.getLoc(), split.partial, pick(split.ofPartial));
    partial->setAttr(exec::kSlotName,
                     b.getArrayAttr(SmallVector<Attribute>(partial.getNumResults(), b.getStringAttr("partial sums"))));
    SmallVector<Value> arguments = pick(split.ofRest);
    llvm::append_range(arguments, partial.getResults());
    call->setOperands(arguments);
  }

  const Target &target;
};

} // namespace

std::optional<SplitKernel> xlc::splitReductions(func::FuncOp kernel, FewestSummed fewest) {
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
  b.insert(partial);
  std::string name = (kernel.getName() + "_partial").str(), first = name;
  for (int n = 2; SymbolTable::lookupNearestSymbolFrom(kernel, b.getStringAttr(name)); ++n)
    name = first + std::to_string(n);
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
