// See KernelResults.h.
#include "KernelResults.h"
#include "ElementRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<ShapedType>(value.getType()).getShape(); }

graph::ReduceOp lower::findChunkSum(const Result &result) {
  auto reduce = result.value.getDefiningOp<graph::ReduceOp>();
  return reduce && !reduce.isOverRow() ? reduce : graph::ReduceOp();
}

Value ResultStores::add(Value value, Value old, Type element) {
  OpBuilder &b = e.builder();
  if (!isa<FloatType>(element))
    return arith::AddIOp::create(b, e.loc(), value, old);
  if (!graph::isNarrow(element))
    return arith::AddFOp::create(b, e.loc(), value, old);
  auto widen = [&](Value narrow) { return convertElement(e, narrow, b.getF32Type()); };
  return convertElement(e, arith::AddFOp::create(b, e.loc(), widen(value), widen(old)), element);
}

void ResultStores::store(const Result &result, ArrayRef<Index> indices, const Lanes &lanes, Value value) {
  if (result.adds) {
    OpBuilder &b = e.builder();
    bool isVector = llvm::any_of(indices, [](const Index &index) { return !index.isUniform(); });
    Value adds = isVector ? e.splat(result.adds, lanes.width) : result.adds;
    Value old = mapping.frame().loadWhere(e, result.adds, result.memory, indices, lanes);
    value = isVector ? e.splat(value, lanes.width) : value;
    value = arith::SelectOp::create(b, e.loc(), adds, add(value, old, result.memory.element), value);
  }
  e.store(result.memory, indices, lanes, value);
}

SmallVector<Value> ResultStores::evaluateAll(Results which, ArrayRef<Indices> indices, const Lanes &lanes) {
  SmallVector<Value> values;
  for (auto [result, at] : llvm::zip_equal(which, indices))
    values.push_back(e.evaluate(result->value, at, lanes));
  return values;
}

void ResultStores::storeAll(Results which, ArrayRef<Indices> indices, const Lanes &lanes, ArrayRef<Value> values) {
  auto store = [&] {
    for (auto [result, at, value] : llvm::zip_equal(which, indices, values))
      this->store(*result, at, lanes, value);
  };
  lanes.exists ? e.guarded(lanes.exists, store) : store();
}

void ResultStores::evaluateAndStore(Results which, ArrayRef<Indices> indices, const Lanes &lanes) {
  storeAll(which, indices, lanes, evaluateAll(which, indices, lanes));
}

/// What cuts and joins rows, and not their elements, reads the same element.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>()) {
    if (shapeOf(reshape.getX()).empty() || shapeOf(reshape.getX()).back() != shapeOf(value).back())
      break;
    value = reshape.getX();
  }
  return value;
}

SmallVector<Value> ColumnSums::begin() {
  SmallVector<Value> sums;
  forKept([&](const Index &, const Lanes &lanes) {
    for (const Result *result : which) {
      assert(findChunkSum(*result) && "sortResults takes no others for sums of columns");
      graph::Reduction kind = findChunkSum(*result).getKind();
      sums.push_back(e.splat(neutralElement(e, kind, getElementTypeOrSelf(result->value.getType())), lanes.width));
    }
  });
  return sums;
}

SmallVector<Value> ColumnSums::add(const Index &row, ValueRange sums) {
  SmallVector<Value> added;
  if (which.empty())
    return added;
  forKept([&](const Index &position, const Lanes &lanes) {
    for (const Result *result : which) {
      graph::ReduceOp reduce = findChunkSum(*result);
      Value x = skipReshapes(reduce.getX()); // as the results of elements have it: what is known is not made again
      Indices at = e.delinearize(row, shapeOf(x).drop_back(), 1);
      at.push_back(position);
      Value element = e.splat(e.evaluate(x, at, lanes), lanes.width);
      added.push_back(combineElements(e, reduce.getKind(), sums[added.size()], element));
    }
  });
  return added;
}

void ColumnSums::store(const Index &chunk, ArrayRef<Value> sums, ResultStores &stores) {
  forKept([&](const Index &position, const Lanes &lanes) {
    stores.storeAll(which, SmallVector<Indices>(which.size(), Indices{chunk, position}), lanes,
                    sums.take_front(which.size()));
    sums = sums.drop_front(which.size());
  });
  assert(sums.empty() && "begin() made as many as a worker keeps");
}

void ColumnSums::forKept(llvm::function_ref<void(const Index &position, const Lanes &lanes)> body) {
  mapping.forLanes(e, size, mapping.chooseWidth(size, 1), {},
                   [&](const Index &position, const Lanes &lanes, ValueRange) -> SmallVector<Value> {
                     body(position, lanes);
                     return {};
                   });
}
