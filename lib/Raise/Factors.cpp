// See Factors.h.
#include "Factors.h"

#include "xlc/Raise/MatchValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::shapeOf;
using xlc::graph::typeOf;

FactorList FactorTable::make(int64_t size) {
  if (size == 1)
    return {};
  factors.push_back({size});
  return {(int)factors.size() - 1};
}

FactorList FactorTable::expand(ArrayRef<int> list) const {
  FactorList result;
  for (int factor : list)
    if (factors[factor].outer < 0)
      result.push_back(factor);
    else
      llvm::append_range(result, expand({factors[factor].outer, factors[factor].inner}));
  return result;
}

int64_t FactorTable::sizeOf(ArrayRef<int> list) const {
  int64_t size = 1;
  for (int factor : list)
    size *= factors[factor].size;
  return size;
}

FactorList FactorTable::flatten(const FactoredValue &value) const {
  FactorList result;
  for (const FactorList &list : value.dims)
    llvm::append_range(result, expand(list));
  return result;
}

std::optional<FactorList> FactorTable::take(FactorList &rest, int64_t size) {
  FactorList taken;
  while (size != 1) {
    if (rest.empty())
      return std::nullopt;
    int next = rest.front();
    int64_t length = factors[next].size;
    if (size % length == 0) {
      taken.push_back(next);
      rest.erase(rest.begin());
      size /= length;
    } else if (length % size == 0) {
      int outer = make(size)[0], inner = make(length / size)[0];
      factors[next].outer = outer, factors[next].inner = inner;
      taken.push_back(outer);
      rest.front() = inner;
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return taken;
}

bool FactorTable::undoReshape(FactoredValue &value, Value x) {
  FactorList rest = flatten(value);
  if (sizeOf(rest) != typeOf(x).getNumElements())
    return false;
  SmallVector<FactorList> dims;
  for (int64_t size : shapeOf(x))
    if (std::optional<FactorList> taken = take(rest, size))
      dims.push_back(*taken);
    else
      return false;
  value = {x, dims};
  return true;
}

/// concat(x, x, x) repeats x: the outer factor goes.
bool FactorTable::undoConcat(FactoredValue &value, graph::ConcatOp op) {
  if (!llvm::all_equal(op.getXs()) || op.getXs().size() < 2)
    return false;
  FactorList rest = expand(value.dims[op.getDimension()]);
  if (!take(rest, (int64_t)op.getXs().size()))
    return false;
  value.value = op.getXs().front();
  value.dims[op.getDimension()] = rest;
  return true;
}

/// The elements of a known tensor of integers; none when it is something else.
static std::optional<SmallVector<int64_t>> findIntegers(Value value) {
  DenseElementsAttr elements = findConstant(value);
  if (!elements || !isa<IntegerType>(elements.getElementType()) || elements.getType() != value.getType())
    return std::nullopt;
  return llvm::map_to_vector(elements.getValues<APInt>(), [](const APInt &index) { return index.getSExtValue(); });
}

/// Indices 0 0 1 1 2 2 repeat each element, 0 1 2 0 1 2 the whole.
bool FactorTable::undoGather(FactoredValue &value, graph::GatherOp op) {
  std::optional<SmallVector<int64_t>> indices = findIntegers(op.getIndices());
  int64_t d = op.getDimension(), size = shapeOf(op.getTable())[d], rank = typeOf(op.getIndices()).getRank();
  if (!indices || indices->empty() || size == 0 || (int64_t)indices->size() % size != 0)
    return false;
  int64_t times = (int64_t)indices->size() / size;
  bool repeatsEach = true, repeatsWhole = true;
  for (auto [i, index] : llvm::enumerate(*indices)) {
    repeatsEach &= index == (int64_t)i / times;
    repeatsWhole &= index == (int64_t)i % size;
  }
  FactorList rest, kept;
  for (int64_t i = d; i < d + rank; ++i)
    llvm::append_range(rest, expand(value.dims[i]));
  std::optional<FactorList> outer = take(rest, repeatsEach ? size : times);
  if (!outer || !(repeatsEach || repeatsWhole))
    return false;
  value.value = op.getTable();
  value.dims.erase(value.dims.begin() + d, value.dims.begin() + d + rank);
  value.dims.insert(value.dims.begin() + d, repeatsEach ? *outer : rest);
  return true;
}

bool FactorTable::stepBack(FactoredValue &value, bool mayRepeat) {
  Operation *op = value.value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<graph::ReshapeOp>(op))
    return undoReshape(value, reshape.getX());
  if (auto transpose = dyn_cast_or_null<graph::TransposeOp>(op)) {
    SmallVector<FactorList> dims(value.dims.size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      dims[from] = value.dims[to];
    value = {transpose.getX(), dims};
    return true;
  }
  if (!op || !mayRepeat)
    return false;
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(broadcast.getX()), to = shapeOf(broadcast.getY());
    value.value = broadcast.getX();
    value.dims.erase(value.dims.begin(), value.dims.begin() + (to.size() - from.size()));
    for (auto [list, size, whole] : llvm::zip_equal(value.dims, from, to.take_back(from.size())))
      if (size != whole)
        list.clear();
    return true;
  }
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    return undoConcat(value, concat);
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    return undoGather(value, gather);
  return false;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static Value reshape(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : graph::ReshapeOp::create(builder, loc, typeOf(x).clone(shape), x).getResult();
}

static Value transpose(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, (int64_t)permutation.size())))
    return x;
  SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t d) { return shapeOf(x)[d]; });
  return graph::TransposeOp::create(builder, loc, typeOf(x).clone(shape), x, permutation);
}

Value FactorTable::arrange(OpBuilder &builder, Location loc, const FactoredValue &value,
                           ArrayRef<FactorList> to) const {
  SmallVector<FactorList> from = llvm::map_to_vector(value.dims, [&](const FactorList &list) { return expand(list); });
  SmallVector<FactorList> wanted = llvm::map_to_vector(to, [&](const FactorList &list) { return expand(list); });
  // Whole dimensions in another order are one transpose.
  SmallVector<int64_t> permutation;
  for (const FactorList &list : wanted)
    for (auto [d, candidate] : llvm::enumerate(from))
      if (candidate == list && !llvm::is_contained(permutation, (int64_t)d)) {
        permutation.push_back((int64_t)d);
        break;
      }
  if (permutation.size() == wanted.size() && from.size() == wanted.size())
    return transpose(builder, loc, value.value, permutation);

  FactorList flat = flatten(value);
  SmallVector<int64_t> split, kept, whole, shape;
  for (int factor : flat)
    split.push_back(factors[factor].size);
  permutation.clear();
  for (const FactorList &list : wanted) {
    for (int factor : list) {
      const auto *place = llvm::find(flat, factor);
      bool has = place != flat.end();
      if (has)
        permutation.push_back(place - flat.begin());
      kept.push_back(has ? factors[factor].size : 1);
      whole.push_back(factors[factor].size);
    }
    shape.push_back(sizeOf(list));
  }
  bool isInOrder = llvm::is_sorted(permutation);
  Value result = isInOrder ? value.value : reshape(builder, loc, value.value, split);
  result = transpose(builder, loc, result, permutation.empty() || isInOrder ? SmallVector<int64_t>() : permutation);
  if (kept != whole) {
    result = reshape(builder, loc, result, kept);
    result = graph::BroadcastOp::create(builder, loc, typeOf(result).clone(whole), result);
  }
  return reshape(builder, loc, result, shape);
}
