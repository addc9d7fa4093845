// Normalizes reductions to three kinds: to rows, to columns, to a scalar. The others become one of them by a reshape
// or, where the reduced dimensions are not adjacent, a transpose. Scatters are moved to dimension 0; the summed letters
// of a contraction are made adjacent. Attention without a library call becomes products and row kernels.
#include "WriteAttention.h"
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Kernels/Kernels.h"

namespace xlc {
#define GEN_PASS_DEF_NORMALIZEREDUCTIONSPASS
#include "xlc/Kernels/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

Value reshape(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> shape) {
  auto type = typeOf(x).clone(shape);
  return x.getType() == type ? x : ReshapeOp::create(b, loc, type, x).getResult();
}

Value transpose(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(typeOf(x).getDimSize(dimension));
  return TransposeOp::create(b, loc, typeOf(x).clone(shape), x, permutation);
}

void normalizeReduce(ReduceOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getX();
  SmallVector<int64_t> reduced(op.getDimensions()), kept;
  int64_t rank = typeOf(x).getRank();
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(reduced, i))
      kept.push_back(i);
  if (kept.empty() && !reduced.empty())
    return;
  if (reduced.empty()) {
    op.replaceAllUsesWith(x);
    return op.erase();
  }
  assert(llvm::is_sorted(reduced) && "the verifier of reduce requires ascending dimensions");
  bool isPrefix = reduced.back() == (int64_t)reduced.size() - 1;
  bool isSuffix = kept.back() == (int64_t)kept.size() - 1;
  if (!isPrefix && !isSuffix) {
    SmallVector<int64_t> order(kept);
    llvm::append_range(order, reduced);
    x = transpose(b, loc, x, order);
    isSuffix = true;
  }
  SmallVector<int64_t> keptSizes(op.getType().getShape());
  int64_t count = product(typeOf(x).getShape()) / std::max<int64_t>(product(keptSizes), 1);
  SmallVector<int64_t> shape, dimensions, result;
  if (isSuffix) { // [kept..., all reduced ones]
    shape = keptSizes;
    shape.push_back(count);
    dimensions.push_back(keptSizes.size());
    result = keptSizes;
  } else { // [all reduced ones, all kept ones]
    shape = {count, product(keptSizes)};
    dimensions.push_back(0);
    result = {product(keptSizes)};
  }
  Value y = ReduceOp::create(b, loc, op.getType().clone(result), op.getKind(), reshape(b, loc, x, shape), dimensions);
  op.replaceAllUsesWith(reshape(b, loc, y, keptSizes));
  op.erase();
}

/// Moves dimension `d` of a scatter to the front and back.
void normalizeScatter(ScatterAddOp op) {
  int64_t d = op.getDimension(), width = typeOf(op.getIndices()).getRank(), rank = typeOf(op.getUpdates()).getRank();
  if (d == 0)
    return;
  OpBuilder b(op);
  SmallVector<int64_t> forward, backward;
  for (int64_t i = 0; i < width; ++i)
    forward.push_back(d + i);
  for (int64_t i = 0; i < rank; ++i)
    if (i < d || i >= d + width)
      forward.push_back(i);
  Value updates = transpose(b, op.getLoc(), op.getUpdates(), forward);
  SmallVector<int64_t> shape(op.getType().getShape());
  int64_t size = shape[d];
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin(), size);
  Value scattered = ScatterAddOp::create(b, op.getLoc(), op.getType().clone(shape), op.getIndices(), updates, 0);
  for (int64_t i = 0; i < (int64_t)shape.size(); ++i)
    backward.push_back(i < d ? i + 1 : i == d ? 0 : i);
  op.replaceAllUsesWith(transpose(b, op.getLoc(), scattered, backward));
  op.erase();
}

/// An operand of a contraction whose letters `last` are moved to the end; `letters` becomes their new order.
Value moveToEnd(OpBuilder &b, Location loc, Value operand, std::string &letters, StringRef last) {
  std::string order;
  for (char c : letters)
    if (!last.contains(c))
      order.push_back(c);
  order += last;
  if (order == letters)
    return operand;
  SmallVector<int64_t> permutation;
  for (char c : order)
    permutation.push_back(letters.find(c));
  letters = order;
  return transpose(b, loc, operand, permutation);
}

/// Whether the target's library does the op where all its values are contiguous.
bool libraryDoes(Operation *op, const Target &target) {
  SmallVector<MemRefType> memory;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    memory.push_back(MemRefType::get(typeOf(value).getShape(), typeOf(value).getElementType()));
  return target.fits({op, memory});
}

/// Letters of y, those that both operands have first: a batch of matrices.
std::string putBatchFirst(ContractOp op) {
  std::string batch, others;
  for (char c : op.getLettersY())
    (op.getLettersA().contains(c) && op.getLettersB().contains(c) ? batch : others).push_back(c);
  return batch + others;
}

/// A library sums along one dimension: letters that are summed and apart go to the end of both operands, in one order. What
/// still is no matrix of a library is a view of a batch of matrices.
void normalizeContract(ContractOp op, const Target &target) {
  if (libraryDoes(op, target))
    return;
  std::string lettersA = op.getLettersA().str(), lettersB = op.getLettersB().str(), summed;
  for (char c : lettersA)
    if (!op.getLettersY().contains(c))
      summed.push_back(c);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value first = moveToEnd(b, loc, op.getA(), lettersA, summed);
  Value second = moveToEnd(b, loc, op.getB(), lettersB, summed);
  auto contract = [&](StringRef lettersY, ArrayRef<int64_t> shape) {
    return ContractOp::create(b, loc, op.getType().clone(shape), lettersA + "," + lettersB + "->" + lettersY.str(),
                              first, second);
  };
  ContractOp made = contract(op.getLettersY(), op.getType().getShape());
  Value result = made;
  if (!libraryDoes(made, target)) {
    made.erase();
    std::string letters = putBatchFirst(op);
    SmallVector<int64_t> shape, back;
    for (char c : letters)
      shape.push_back(op.getType().getDimSize(op.getLettersY().find(c)));
    for (char c : op.getLettersY())
      back.push_back(letters.find(c));
    result = transpose(b, loc, contract(letters, shape), back);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

struct NormalizeReductionsPass : xlc::impl::NormalizeReductionsPassBase<NormalizeReductionsPass> {
  NormalizeReductionsPass(const Target &target, bool fusesAttention) : target(target), fusesAttention(fusesAttention) {}

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      for (Operation &op : llvm::make_early_inc_range(function.front()))
        if (isa<CrossEntropyOp>(op))
          expandNamedOp(&op);
        else if (op.hasTrait<Attention>())
          normalizeAttention(&op);
      for (Operation &op : llvm::make_early_inc_range(function.front()))
        if (auto reduce = dyn_cast<ReduceOp>(op))
          normalizeReduce(reduce);
        else if (auto scatter = dyn_cast<ScatterAddOp>(op))
          normalizeScatter(scatter);
        else if (auto contract = dyn_cast<ContractOp>(op))
          normalizeContract(contract, target);
    }
  }

  void normalizeAttention(Operation *op) {
    if (auto forward = dyn_cast<AttentionOp>(op))
      normalizeAttention(forward);
    else
      normalizeAttention(cast<AttentionBackwardOp>(op));
  }

  template <class OpT> void normalizeAttention(OpT op) {
    bool isSplit = op.getBias() && !target.seesWithoutKeys(), isUniform = op.getUniform();
    op.setUniform(isUniform || isSplit); // what is asked of the library then
    bool isFused = fusesAttention && libraryDoes(op, target);
    op.setUniform(isUniform);
    if (!isFused)
      writeAttention(op);
    else if (isSplit)
      splitUnseen(op);
  }

  const Target &target;
  const bool fusesAttention;
};

} // namespace

std::unique_ptr<Pass> xlc::createNormalizeReductionsPass(const Target &target, bool fusesAttention) {
  return std::make_unique<NormalizeReductionsPass>(target, fusesAttention);
}
