// Gradient rules of ops that move elements: each is the transpose of a linear map.
#include "Rules.h"

#include "xlc/Dialect/Graph/Stops.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {
/// The gradient of a product of n elements takes n^2 steps; more than this squared is a mistake.
constexpr int64_t maximumProduct = 4096;
} // namespace

LogicalResult gradients::broadcast(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.sumTo(dy[0], typeOf(op->getOperand(0))));
  return success();
}

LogicalResult gradients::reshape(GradientBuilder &b, Operation *op, ValueRange dy) {
  b.contribute(0, b.reshape(dy[0], typeOf(op->getOperand(0)).getShape()));
  return success();
}

LogicalResult gradients::transpose(GradientBuilder &b, Operation *op, ValueRange dy) {
  SmallVector<int64_t> inverse(typeOf(dy[0]).getRank());
  for (auto [i, dimension] : llvm::enumerate(llvm::cast<TransposeOp>(op).getPermutation()))
    inverse[dimension] = i;
  b.contribute(0, b.transpose(dy[0], inverse));
  return success();
}

// A slice with stride 1 everywhere contributes a piece of the whole; the driver knows whether pieces tile it. Other
// strides scatter along their dimension first, which puts every element back in its place.
LogicalResult gradients::slice(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto slice = llvm::cast<SliceOp>(op);
  RankedTensorType whole = typeOf(slice.getX());
  SmallVector<int64_t> offsets(slice.getOffsets());
  Value cotangent = dy[0];
  for (auto [i, stride] : llvm::enumerate(slice.getStrides())) {
    if (stride == 1)
      continue;
    SmallVector<int64_t> places, shape(typeOf(cotangent).getShape());
    for (int64_t k = 0; k < shape[i]; ++k)
      places.push_back(offsets[i] + k * stride);
    Value indices = b.integers(places);
    shape[i] = whole.getDimSize(i);
    offsets[i] = 0;
    cotangent = b.create<ScatterAddOp>(whole.clone(shape), indices, cotangent, i);
  }
  b.contribute(0, cotangent, offsets);
  return success();
}

LogicalResult gradients::concat(GradientBuilder &b, Operation *op, ValueRange dy) {
  int64_t dimension = llvm::cast<ConcatOp>(op).getDimension();
  SmallVector<int64_t> offsets(typeOf(dy[0]).getRank(), 0);
  for (auto [i, x] : llvm::enumerate(op->getOperands())) {
    if (b.isNeeded(i))
      b.contribute(i, b.slice(dy[0], offsets, typeOf(x).getShape()));
    offsets[dimension] += typeOf(x).getDimSize(dimension);
  }
  return success();
}

LogicalResult gradients::pad(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto pad = llvm::cast<PadOp>(op);
  Value inner = b.slice(dy[0], pad.getLow(), typeOf(pad.getX()).getShape());
  b.contribute(0, inner);
  if (b.isNeeded(1)) { // what is not inside belongs to the padding value
    Value all = b.reduceAll(Reduction::sum, dy[0]), inside = b.reduceAll(Reduction::sum, inner);
    b.contribute(1, b.sub(all, inside));
  }
  return success();
}

/// dx_i = dy times the product of the other elements, which is right where elements are zero as well. The products
/// are taken over [kept..., n, n] with ones on the diagonal, in one kernel that stores none of it.
static LogicalResult contributeProduct(GradientBuilder &b, ReduceOp reduce, Value spread) {
  RankedTensorType whole = typeOf(reduce.getX());
  SmallVector<int64_t> order, shape, inverse(whole.getRank());
  int64_t count = 1;
  for (int64_t i = 0; i < whole.getRank(); ++i)
    if (!llvm::is_contained(reduce.getDimensions(), i))
      order.push_back(i), shape.push_back(whole.getDimSize(i));
  for (int64_t i : reduce.getDimensions())
    order.push_back(i), count *= whole.getDimSize(i);
  if (count > maximumProduct)
    return reduce.emitError() << "the gradient of a product of " << count
                              << " elements is not supported; the maximum is " << maximumProduct << " elements";
  SmallVector<int64_t> moved;
  for (auto [i, dimension] : llvm::enumerate(order))
    moved.push_back(whole.getDimSize(dimension)), inverse[dimension] = i;
  shape.append({1, count});
  Value x = b.reshape(b.transpose(reduce.getX(), order), shape);
  int64_t rank = shape.size();
  shape[rank - 2] = count;
  Value row = b.iota(shape, rank - 2), column = b.iota(shape, rank - 1);
  Value isOther = b.compare(Predicate::ne, row, column);
  Value others = b.select(isOther, b.broadcast(x, shape), 1);
  Value products = b.reshape(b.reduceRows(Reduction::prod, others), moved);
  b.contribute(0, b.mul(spread, b.transpose(products, inverse)));
  return success();
}

LogicalResult gradients::reduce(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto reduce = llvm::cast<ReduceOp>(op);
  if (op->hasAttr(kCancels))
    return success();
  RankedTensorType whole = typeOf(reduce.getX());
  Value spread = b.unreduce(dy[0], reduce.getDimensions(), whole);
  switch (reduce.getKind()) {
  case Reduction::sum:
    b.contribute(0, spread);
    return success();
  case Reduction::max:
  case Reduction::min: { // shared evenly among the elements that attain it, as PyTorch's amax
    Value extreme = b.unreduce(reduce.getY(), reduce.getDimensions(), whole);
    Value attained = b.isEqual(reduce.getX(), extreme);
    Value one = b.select(attained, b.number(1, whole), 0);
    Value count = b.sum(one, reduce.getDimensions(), /*keeps=*/false);
    Value share = b.div(one, b.unreduce(count, reduce.getDimensions(), whole));
    b.contribute(0, b.mul(spread, share));
    return success();
  }
  case Reduction::prod:
    return contributeProduct(b, reduce, spread);
  }
  llvm_unreachable("every reduction has its case");
}

/// dy with zeros where the padding row was looked up.
static Value maskPadding(GradientBuilder &b, GatherOp gather, int64_t row, Value dy) {
  RankedTensorType places = typeOf(gather.getIndices());
  Value padding = b.broadcast(b.scalar(double(row), places.getElementType()), places.getShape());
  Value isPadding = b.isEqual(gather.getIndices(), padding);
  SmallVector<int64_t> along(typeOf(dy).getRank(), 1);
  llvm::copy(places.getShape(), along.begin() + gather.getDimension());
  isPadding = b.broadcast(b.reshape(isPadding, along), dy);
  return b.select(isPadding, b.number(0, dy), dy);
}

LogicalResult gradients::gather(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto gather = llvm::cast<GatherOp>(op);
  auto padding = op->getAttrOfType<IntegerAttr>(kPadding);
  Value updates = padding ? maskPadding(b, gather, padding.getInt(), dy[0]) : dy[0];
  b.contribute(
      0, b.create<ScatterAddOp>(gather.getTable().getType(), gather.getIndices(), updates, gather.getDimension()));
  return success();
}

LogicalResult gradients::scatterAdd(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto scatter = llvm::cast<ScatterAddOp>(op);
  b.contribute(1, b.gather(dy[0], scatter.getIndices(), scatter.getDimension()));
  return success();
}

LogicalResult gradients::gatherElements(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto gather = llvm::cast<GatherElementsOp>(op);
  b.contribute(
      0, b.create<ScatterElementsAddOp>(gather.getX().getType(), gather.getIndices(), dy[0], gather.getDimension()));
  return success();
}

LogicalResult gradients::scatterElementsAdd(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto scatter = llvm::cast<ScatterElementsAddOp>(op);
  b.contribute(1, b.create<GatherElementsOp>(scatter.getUpdates().getType(), dy[0], scatter.getIndices(),
                                             scatter.getDimension()));
  return success();
}

/// Elements of x at the places of a scatter's updates; the transpose below sums them there.
static Value takeAtPlaces(GradientBuilder &b, ScatterElementsOp op, Value x) {
  RankedTensorType updates = typeOf(op.getUpdates());
  if (!op.isByRow())
    return b.create<GatherElementsOp>(updates, x, op.getIndices(), op.getDimension());
  return b.create<GatherElementsOp>(updates, x, b.broadcast(op.getIndices(), updates.getShape()), op.getDimension());
}

static Value sumAtPlaces(GradientBuilder &b, ScatterElementsOp op, Value updates) {
  Value indices = op.isByRow() ? b.broadcast(op.getIndices(), typeOf(updates).getShape()) : op.getIndices();
  return b.create<ScatterElementsAddOp>(op.getY().getType(), indices, updates, op.getDimension());
}

LogicalResult gradients::scatterElements(GradientBuilder &b, Operation *op, ValueRange dy) {
  auto scatter = llvm::cast<ScatterElementsOp>(op);
  Value base = scatter.getBase(), updates = scatter.getUpdates();
  if (scatter.getKind() == Scatter::last) {
    if (b.isNeeded(0)) {
      Value none = b.number(0, updates);
      b.contribute(0, b.create<ScatterElementsOp>(typeOf(base), Scatter::last, dy[0], scatter.getIndices(), none,
                                                  scatter.getDimension()));
    }
    if (b.isNeeded(2))
      b.contribute(2, takeAtPlaces(b, scatter, dy[0]));
    return success();
  }
  auto ones = [&](Value x, Value attained) { return b.select(b.isEqual(x, attained), b.number(1, x), 0); };
  Value kept = ones(base, scatter.getY()), given = ones(updates, takeAtPlaces(b, scatter, scatter.getY()));
  Value count = b.add(kept, sumAtPlaces(b, scatter, given));
  Value share = b.div(dy[0], count);
  if (b.isNeeded(0))
    b.contribute(0, b.mul(share, kept));
  if (b.isNeeded(2))
    b.contribute(2, b.mul(takeAtPlaces(b, scatter, share), given));
  return success();
}
