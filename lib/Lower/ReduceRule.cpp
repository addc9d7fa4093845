// The element rule of reductions. One element of the result is a loop nest over the reduced dimensions:
//
//     of one element (a row's sum)     vectors along the innermost reduced dimension, several registers wide, folded
//                                      pairwise at the end: an order that depends on the row's length only
//     of neighbouring elements         one lane each, in the order of the rows (a column's sum)
//
// Reductions of the same shape that do not depend on each other share one loop.
#include "ElementRules.h"
#include "Mapping.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;
using graph::ReduceOp;

namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Per op of a block: how many reductions lie one after the other on the way to it.
DenseMap<Operation *, int> reductionLevels(Block &block) {
  DenseMap<Operation *, int> levels;
  for (Operation &op : block) {
    int level = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        level = std::max(level, levels.lookup(producer));
    levels[&op] = level + isa<ReduceOp>(op);
  }
  return levels;
}

/// Reductions that one loop can compute with `op`.
SmallVector<ReduceOp> findCompanions(ReduceOp op) {
  auto levels = reductionLevels(*op->getBlock());
  SmallVector<ReduceOp> companions;
  for (ReduceOp other : op->getBlock()->getOps<ReduceOp>())
    if (levels[other] == levels[op] && shapeOf(other.getX()) == shapeOf(op.getX()) &&
        other.getDimensions() == op.getDimensions())
      companions.push_back(other);
  return companions;
}

/// Whether evaluating `value` with the marked dimensions varying by lane would reduce once per lane.
class LaneReductions {
public:
  bool reaches(Value value, const llvm::SmallBitVector &varying) {
    Operation *op = value.getDefiningOp();
    if (!op || varying.none() || isa<graph::ConstantOp, graph::IotaOp>(op))
      return false;
    if (isa<ReduceOp>(op))
      return true;
    SmallVector<int64_t, 8> key{(int64_t)value.getAsOpaquePointer()};
    for (unsigned dimension : varying.set_bits())
      key.push_back(dimension);
    if (!seen.insert({key, true}).second)
      return false; // its answer is on the way already
    return llvm::any_of(op->getOperands(), [&](Value x) { return reaches(x, mapToOperand(op, x, varying)); });
  }

private:
  static llvm::SmallBitVector mapToOperand(Operation *op, Value operand, const llvm::SmallBitVector &varying) {
    ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(op->getResult(0));
    llvm::SmallBitVector mapped(from.size());
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      for (unsigned i : varying.set_bits())
        mapped.set(transpose.getPermutation()[i]);
    } else if (isa<graph::BroadcastOp>(op)) {
      for (size_t i = 1; i <= std::min(from.size(), to.size()); ++i)
        if (from[from.size() - i] != 1 && varying.test(to.size() - i))
          mapped.set(from.size() - i);
    } else if (isa<graph::ReshapeOp>(op)) {
      mapReshape(from, to, varying, mapped);
    } else if (from.size() == to.size() &&
               (op->hasTrait<graph::ReadsOwnElement>() || op->hasTrait<graph::ReadsOwnDimensions>())) {
      mapped = varying;
    } else {
      mapped.set();
    }
    return mapped;
  }

  /// Dimensions of size 1 come and go; anything else mixes them all.
  static void mapReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, const llvm::SmallBitVector &varying,
                         llvm::SmallBitVector &mapped) {
    SmallVector<unsigned> longFrom, longTo;
    for (auto [i, size] : llvm::enumerate(from))
      if (size != 1)
        longFrom.push_back(i);
    for (auto [i, size] : llvm::enumerate(to))
      if (size != 1)
        longTo.push_back(i);
    bool same = longFrom.size() == longTo.size();
    for (size_t i = 0; same && i < longFrom.size(); ++i)
      same = from[longFrom[i]] == to[longTo[i]];
    if (!same)
      mapped.set();
    for (size_t i = 0; same && i < longFrom.size(); ++i)
      if (varying.test(longTo[i]))
        mapped.set(longFrom[i]);
  }

  std::map<SmallVector<int64_t, 8>, bool> seen;
};

/// Vectors that the loop of these reductions keeps in flight: routines in it need the registers themselves.
int64_t chooseRegisters(ArrayRef<ReduceOp> ops) {
  llvm::SetVector<Value> evaluated;
  for (ReduceOp op : ops)
    evaluated.insert(op.getX());
  for (size_t i = 0; i < evaluated.size(); ++i) {
    Operation *producer = evaluated[i].getDefiningOp();
    if (!producer || isa<ReduceOp>(producer)) // a loop of its own
      continue;
    if (isRoutine(producer->getName().getStringRef()))
      return 2;
    evaluated.insert_range(producer->getOperands());
  }
  return 4;
}

struct Reduction {
  KernelEmitter &e;
  SmallVector<ReduceOp> ops;
  ArrayRef<Index> indices; ///< of the result
  Lanes lanes;             ///< of the result
  ArrayRef<int64_t> shape, dimensions;
  std::optional<int64_t> laneDimension;
  int64_t width = 1;     ///< of the accumulators
  bool isShared = false; ///< those who share the column have some of its rows each

  void chooseStrategy();
  SmallVector<Value> nest(size_t k, Indices at, ValueRange sums);
  SmallVector<Value> accumulate(const Indices &at, const Lanes &by, ValueRange sums);
  Value fold(ReduceOp op, Value vector);
  SmallVector<Value> foldAll(ValueRange sums);
};

void Reduction::chooseStrategy() {
  width = lanes.width;
  bool isOne = llvm::all_of(indices, [](const Index &index) { return index.isUniform(); });
  if (!isOne || !e.mapping().areShared(indices))
    return;
  width = 1, lanes = {};
  for (int64_t dimension : llvm::reverse(dimensions)) {
    if (shape[dimension] == 1)
      continue;
    llvm::SmallBitVector varying(shape.size());
    varying.set(dimension);
    if (llvm::any_of(ops, [&](ReduceOp op) { return LaneReductions().reaches(op.getX(), varying); }))
      return;
    laneDimension = dimension;
    width = e.mapping().chooseWidth(shape[dimension], chooseRegisters(ops));
    return;
  }
}

SmallVector<Value> Reduction::accumulate(const Indices &at, const Lanes &by, ValueRange sums) {
  SmallVector<Value> results;
  for (auto [op, sum] : llvm::zip_equal(ops, sums)) {
    Value element = e.splat(e.evaluate(op.getX(), at, by), width);
    Value exists = by.mask ? by.mask : by.exists;
    if (laneDimension && by.width < width) { // one element, for lane 0
      Value first = e.constantMask(width, 1);
      exists = exists ? arith::AndIOp::create(e.builder(), e.loc(), e.splat(exists, width), first).getResult() : first;
    }
    if (laneDimension && exists) {
      Value neutral = e.splat(neutralElement(e, op.getKind(), getElementTypeOrSelf(element.getType())), width);
      element = arith::SelectOp::create(e.builder(), e.loc(), exists, element, neutral);
    }
    results.push_back(combineElements(e, op.getKind(), sum, element));
  }
  return results;
}

/// Loops over vanishing dimension `k` and those after it; the one along lanes comes last.
SmallVector<Value> Reduction::nest(size_t k, Indices at, ValueRange sums) {
  if (k == dimensions.size()) {
    if (!laneDimension)
      return accumulate(at, lanes, sums);
    return e.mapping().forLanes(e, shape[*laneDimension], width, sums,
                                [&](const Index &position, const Lanes &by, ValueRange carried) {
                                  at[*laneDimension] = position;
                                  return accumulate(at, by, carried);
                                });
  }
  if (dimensions[k] == laneDimension)
    return nest(k + 1, at, sums);
  auto body = [&](const Index &position, ValueRange carried) {
    at[dimensions[k]] = position;
    return nest(k + 1, at, carried);
  };
  int64_t size = shape[dimensions[k]];
  return isShared && k == 0 ? e.mapping().forRowsOfColumn(e, size, sums, body)
                            : e.loop(e.constantIndex(0), e.constantIndex(size), 1, sums, body);
}

/// Halves onto halves, down to one lane.
Value Reduction::fold(ReduceOp op, Value vector) {
  OpBuilder &b = e.builder();
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(b, e.loc(), vector, ArrayRef<int64_t>{0}, {half}, {1});
    Value high = vector::ExtractStridedSliceOp::create(b, e.loc(), vector, ArrayRef<int64_t>{half}, {half}, {1});
    vector = combineElements(e, op.getKind(), low, high);
  }
  return vector::ExtractOp::create(b, e.loc(), vector, ArrayRef<int64_t>{0});
}

/// One value of each, over lanes and over all who share the row or the column.
SmallVector<Value> Reduction::foldAll(ValueRange sums) {
  SmallVector<Value> folded;
  SmallVector<graph::Reduction> kinds;
  for (auto [op, sum] : llvm::zip_equal(ops, sums)) {
    folded.push_back(laneDimension && isa<VectorType>(sum.getType()) ? fold(op, sum) : sum);
    kinds.push_back(op.getKind());
  }
  return isShared ? e.mapping().combineColumn(e, kinds, std::move(folded))
                  : e.mapping().combine(e, kinds, std::move(folded));
}

} // namespace

Value lower::reduceElement(KernelEmitter &e, Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  auto reduce = cast<ReduceOp>(op);
  SmallVector<ReduceOp> ops = llvm::to_vector(llvm::make_filter_range(findCompanions(reduce), [&](ReduceOp other) {
    return other == reduce || !e.isKnown(other.getY(), indices, lanes);
  }));
  Reduction reduction{e, ops, indices, lanes, shapeOf(reduce.getX()), reduce.getDimensions(), std::nullopt, 1};
  reduction.isShared = e.mapping().shareColumn(indices);
  reduction.chooseStrategy();

  Indices at(reduction.shape.size());
  for (size_t i = 0, next = 0; i < at.size(); ++i)
    if (!llvm::is_contained(reduction.dimensions, (int64_t)i))
      at[i] = indices[next++];
  SmallVector<Value> sums;
  for (ReduceOp other : ops)
    sums.push_back(
        e.splat(neutralElement(e, other.getKind(), cast<ShapedType>(other.getY().getType()).getElementType()),
                reduction.width));
  sums = reduction.nest(0, at, sums);
  if (reduction.laneDimension || reduction.isShared)
    sums = reduction.foldAll(sums);

  for (auto [other, sum] : llvm::zip_equal(ops, sums))
    e.remember(other.getY(), indices, lanes, sum);
  return sums[llvm::find(ops, reduce) - ops.begin()];
}
