// See RowPitches.h. Each value is examined by itself first. Then values that may share memory form a class, which has
// gaps if all of its values may have them: values that runs pass on, and results that a kernel may write over its
// operands.
#include "RowPitches.h"
#include "xlc/Kernels/LibraryCalls.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

RowPitches::RowPitches(ArrayRef<sched::RunOp> runs, const SymbolTable &symbols, const Target &target)
    : symbols(symbols), target(target) {
  llvm::SetVector<Operation *> functions;
  for (sched::RunOp run : runs)
    functions.insert(symbols.lookup(run.getFunction()));
  for (Operation *function : functions)
    function->walk([&](Operation *op) {
      ValueRange values = isa<func::FuncOp>(op) ? ValueRange(cast<func::FuncOp>(op).getArguments()) : op->getResults();
      for (Value value : values)
        if (isTakenWithGaps(value))
          pitched.insert(value);
    });
  if (pitched.empty())
    return;
  for (Operation *function : functions)
    joinCalls(cast<func::FuncOp>(function));
  joinRuns(runs);
  llvm::DenseSet<Value> denseClasses;
  for (Value value : dense)
    denseClasses.insert(same.getOrInsertLeaderValue(value));
  llvm::DenseSet<Value> all = std::move(pitched);
  pitched.clear();
  for (Value value : all)
    if (!denseClasses.contains(same.getOrInsertLeaderValue(value)))
      pitched.insert(value);
}

void RowPitches::joinCalls(func::FuncOp function) {
  for (auto call : function.getOps<func::CallOp>())
    for (Value result : call.getResults())
      for (Value operand : call.getOperands())
        if (operand.getType() == result.getType())
          join(operand, result);
}

void RowPitches::join(Value value, Value other) {
  same.unionSets(value, other);
  for (Value each : {value, other})
    if (!pitched.contains(each))
      dense.push_back(each);
}

/// What stands between runs is theirs alone, and has one layout in all of them; parameters and stores have none with gaps.
void RowPitches::joinRuns(ArrayRef<sched::RunOp> runs) {
  auto isBetweenRuns = [](Value value) {
    auto isRun = [](Operation *op) { return isa_and_nonnull<sched::RunOp>(op); };
    return isRun(value.getDefiningOp()) && llvm::all_of(value.getUsers(), isRun);
  };
  for (sched::RunOp run : runs)
    for (Value value : llvm::concat<const Value>(run.getValues(), run.getOuts()))
      if (isBetweenRuns(value))
        pitched.insert(value);
  for (sched::RunOp run : runs) {
    auto function = symbols.lookup<func::FuncOp>(run.getFunction());
    for (auto [argument, value] : llvm::zip(function.getArguments(), run.getValues()))
      join(argument, value);
    llvm::append_range(dense, function.getArguments().drop_front(run.getValues().size()));
    auto results = function.front().getTerminator()->getOperands();
    for (auto [result, value] : llvm::zip(results, run.getOuts()))
      join(result, value);
    for (Value stored : results.drop_front(run.getOuts().size()))
      dense.push_back(findLayout(stored).root);
  }
}

int64_t RowPitches::pitchOf(Value value) const {
  RankedTensorType type = typeOf(value);
  int64_t size = type.getRank() < 2 ? 0 : type.getShape().back();
  return size == 0 ? 0 : target.rowPitch(type.getElementType(), size);
}

MemoryLayout RowPitches::layoutWithGaps(Value value) const {
  MemoryLayout layout = MemoryLayout::whole(value);
  int64_t stride = pitchOf(value);
  for (int64_t i = (int64_t)layout.sizes.size() - 2; i >= 0; stride *= layout.sizes[i--])
    layout.strides[i] = stride;
  return layout;
}

MemoryLayout RowPitches::layoutOf(Value value) const {
  return hasGaps(value) ? layoutWithGaps(value) : MemoryLayout::whole(value);
}

MemRefType RowPitches::slotOf(Value value) const {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  if (hasGaps(value))
    shape.back() = pitchOf(value);
  return MemRefType::get(shape, typeOf(value).getElementType());
}

bool RowPitches::isTakenWithGaps(Value value) const {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || tensor.getNumElements() == 0 || pitchOf(value) == 0 || pitchOf(value) == tensor.getShape().back())
    return false;
  MemoryLayout layout = layoutWithGaps(value);
  Operation *maker = value.getDefiningOp();
  auto call = dyn_cast_or_null<func::CallOp>(maker);
  return (!maker || (call && takes(call, layout, value))) && isReadAs(layout, value);
}

/// By all that use `value`, which is its root in `layout`, or a view of it.
bool RowPitches::isReadAs(const MemoryLayout &layout, Value value) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto call = dyn_cast<func::CallOp>(user))
      return takes(call, layout, value);
    if (isa<func::ReturnOp>(user))
      return layout.root == value && llvm::count(user->getOperands(), value) == 1;
    std::optional<MemoryLayout> view =
        user->hasTrait<graph::View>() ? viewThrough(user, layout) : std::optional<MemoryLayout>();
    return view && isReadAs(*view, user->getResult(0));
  });
}

/// Whether the kernel is generated, or a product that the library does where `value` lies so.
bool RowPitches::takes(func::CallOp call, const MemoryLayout &layout, Value value) const {
  auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
  Operation *op = findLibraryOp(kernel);
  if (!op)
    return true;
  auto memoryOf = [&](Value each) { return (each == value ? layout : findLayout(each)).getMemory(); };
  SmallVector<MemRefType> ins = llvm::map_to_vector(call.getOperands(), memoryOf);
  SmallVector<MemRefType> outs = llvm::map_to_vector(call.getResults(), memoryOf);
  return isa<graph::ContractOp>(op) && target.fits({op, memoryOfLibraryOp(op, ins, outs), findEpilogue(op)});
}
