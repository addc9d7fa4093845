// Merges the column sums that a function returns into one kernel at its end. Partial sums (SplitReductions.h) are
// small: launching a kernel for each sum would take longer than reading them.
//
//     call @a_sums(%0)   call @b_sums(%1, %2)      ->      call @a_sums_merged(%0, %1, %2)
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Kernels/Kernels.h"
#include "xlc/Kernels/Views.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace xlc {
#define GEN_PASS_DEF_MERGESUMSPASS
#include "xlc/Kernels/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

/// Elements that a sum has to read at most: they lie there until the function's end.
constexpr int64_t kMostRead = 1 << 20;

/// Bytes of one element of all results of a kernel: on a GPU 512 threads keep theirs in 48 KiB of shared memory.
constexpr int64_t kMostBytes = 64;

int64_t bytesOfResults(func::CallOp call) {
  int64_t bytes = 0;
  for (Type type : call.getResultTypes())
    bytes += graph::getByteSize(cast<RankedTensorType>(type).getElementType(), 1);
  return bytes;
}

/// Whether it sums columns of what it is given, and that is little.
bool isSmallSum(func::FuncOp kernel) {
  auto isSmall = [](Type type) { return cast<RankedTensorType>(type).getNumElements() <= kMostRead; };
  auto isColumn = [](Type type) { return cast<RankedTensorType>(type).getRank() == 1; };
  return exec::findKernelKind(kernel) == exec::KernelKind::columns &&
         llvm::all_of(kernel.front().without_terminator(), [](Operation &op) { return isa<graph::ReduceOp>(op); }) &&
         llvm::all_of(kernel.getArgumentTypes(), isSmall) && llvm::all_of(kernel.getResultTypes(), isColumn);
}

/// Whether nobody in the function reads `value`; what others have as a view of it goes into `views`, each behind what it is a view of.
bool isForOthers(Value value, SmallVectorImpl<Operation *> &views) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    if (user->getNumResults() != 1 || !isView(user->getResult(0)))
      return false;
    views.push_back(user);
    return isForOthers(user->getResult(0), views);
  });
}

/// One kernel that does what each of them does.
func::FuncOp merge(ArrayRef<func::FuncOp> kernels) {
  assert(llvm::all_of(kernels, isSmallSum) && "what else a kernel does has other domains");
  func::FuncOp first = kernels.front();
  OpBuilder b(first->getContext());
  b.setInsertionPointAfter(first);
  auto merged = func::FuncOp::create(b, first.getLoc(), (first.getName() + "_merged").str(), b.getFunctionType({}, {}));
  merged.setPrivate();
  exec::setKernelKind(merged, exec::KernelKind::columns);
  Block *block = merged.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> results;
  for (func::FuncOp kernel : kernels) {
    IRMapping mapping;
    for (BlockArgument argument : kernel.getArguments())
      mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    for (Operation &op : kernel.front().without_terminator())
      b.clone(op, mapping);
    for (Value result : kernel.front().getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
  }
  func::ReturnOp::create(b, first.getLoc(), results);
  merged.setType(b.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
  return merged;
}

struct MergeSumsPass : xlc::impl::MergeSumsPassBase<MergeSumsPass> {
  explicit MergeSumsPass(const Target &target) : target(target) {}

  void runOnOperation() override {
    if (target.fewestSummed().rows == 0) // a sum has its threads
      return;
    symbols.emplace(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!exec::findKernelKind(function))
        mergeSums(function);
    eraseUncalled();
  }

private:
  void eraseUncalled() {
    llvm::StringSet<> called;
    getOperation().walk([&](func::CallOp call) { called.insert(call.getCallee()); });
    for (func::FuncOp kernel : replaced)
      if (!called.contains(kernel.getName()))
        kernel.erase();
  }

  void mergeSums(func::FuncOp function) {
    SmallVector<func::CallOp> calls;
    size_t results = 0;
    int64_t bytes = 0;
    for (auto call : llvm::to_vector(function.getOps<func::CallOp>())) {
      SmallVector<Operation *> views;
      auto kernel = symbols->lookup<func::FuncOp>(call.getCallee());
      if (!isSmallSum(kernel) ||
          !llvm::all_of(call.getResults(), [&](Value result) { return isForOthers(result, views); }))
        continue;
      if (results + call.getNumResults() > kMostAdded || bytes + bytesOfResults(call) > kMostBytes) {
        mergeCalls(calls);
        calls.clear();
        results = bytes = 0;
      }
      calls.push_back(call);
      results += call.getNumResults();
      bytes += bytesOfResults(call);
    }
    mergeCalls(calls);
  }

  void mergeCalls(MutableArrayRef<func::CallOp> calls) {
    if (calls.size() < 2)
      return;
    std::string key;
    SmallVector<func::FuncOp> kernels;
    SmallVector<Value> operands;
    SmallVector<Attribute> names;
    SmallVector<Operation *> views;
    for (func::CallOp call : calls) {
      key += call.getCallee().str() + " ";
      kernels.push_back(symbols->lookup<func::FuncOp>(call.getCallee()));
      llvm::append_range(operands, call.getOperands());
      llvm::append_range(names, call->getAttrOfType<ArrayAttr>(exec::kSlotName));
      for (Value result : call.getResults())
        (void)isForOthers(result, views);
    }
    replaced.insert_range(kernels);
    func::FuncOp &kernel = merged[key];
    if (!kernel) {
      kernel = merge(kernels);
      symbols->insert(kernel); // under a name of its own
    }
    Operation *end = calls.front()->getBlock()->getTerminator();
    OpBuilder b(end);
    auto call = func::CallOp::create(b, calls.front().getLoc(), kernel, operands);
    call->setAttr(exec::kSlotName, b.getArrayAttr(names));
    for (Operation *view : views)
      view->moveBefore(end);
    auto left = call.getResults();
    for (func::CallOp old : calls) {
      old.replaceAllUsesWith(left.take_front(old.getNumResults()));
      left = left.drop_front(old.getNumResults());
      old.erase();
    }
  }

  const Target &target;
  std::optional<SymbolTable> symbols;
  llvm::SetVector<func::FuncOp> replaced; ///< by calls of others, at least here and there
  llvm::StringMap<func::FuncOp> merged;   ///< by the names of those that it is made of
};

} // namespace

std::unique_ptr<Pass> xlc::createMergeSumsPass(const Target &target) { return std::make_unique<MergeSumsPass>(target); }
