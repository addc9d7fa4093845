// Element rules of ops that move elements: an index of the result is mapped to an index of an operand. Where an element
// may not exist (pad, concat), a uniform index is clamped and a lane is masked, so that nothing outside an operand
// is read.
#include "ElementRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Row-major strides.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = (int64_t)shape.size() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// The element of `part` at `indices`, of which those along `dimensions` may lie outside, and `otherwise` there.
static Value elementOrElse(KernelEmitter &e, Value part, Indices indices, ArrayRef<int64_t> dimensions,
                           const Lanes &lanes, Value otherwise) {
  OpBuilder &b = e.builder();
  Lanes existing = lanes;
  Value inside;
  for (int64_t dimension : dimensions) {
    Index &index = indices[dimension];
    int64_t width = index.isUniform() ? 1 : lanes.width;
    Value position = e.positionOf(index, width), size = e.splat(e.integer(shapeOf(part)[dimension]), width);
    // Unsigned: a negative position is a large one.
    Value test = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ult, position, size);
    if (index.isUniform()) {
      Value clamped = arith::SelectOp::create(b, e.loc(), test, position, e.integer(0));
      index = {.base = clamped, .multiple = 1, .depth = e.currentDepth()};
    } else {
      existing.mask = existing.mask ? arith::AndIOp::create(b, e.loc(), test, existing.mask).getResult() : test;
      existing.depth = e.currentDepth();
    }
    if (inside && inside.getType() != test.getType())
      inside = e.splat(inside, lanes.width), test = e.splat(test, lanes.width);
    inside = inside ? arith::AndIOp::create(b, e.loc(), inside, test).getResult() : test;
  }
  Value element = e.evaluate(part, indices, existing);
  if (isa<VectorType>(element.getType()) || isa<VectorType>(inside.getType()) || isa<VectorType>(otherwise.getType())) {
    element = e.splat(element, lanes.width), otherwise = e.splat(otherwise, lanes.width);
    inside = e.splat(inside, lanes.width);
  }
  return arith::SelectOp::create(b, e.loc(), inside, element, otherwise);
}

namespace xlc::lower {

#define XLC_RULE(NAME) Value NAME(KernelEmitter &e, Operation *op, ArrayRef<Index> indices, const Lanes &lanes)
XLC_RULE(constantElement) {
  auto constant = cast<graph::ConstantOp>(op);
  auto value = cast<DenseElementsAttr>(constant.getValue());
  if (!value.isSplat())
    return e.load(e.constantMemory(constant), indices, lanes);
  return e.constant(value.getSplatValue<TypedAttr>());
}

XLC_RULE(iotaElement) {
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  const Index &index = indices[cast<graph::IotaOp>(op).getDimension()];
  return convertElement(e, e.positionOf(index, lanes.width), element);
}

XLC_RULE(broadcastElement) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Indices from(shape.size());
  // Aligned at the last dimension; a dimension of size 1 stands still, and may then also be one too many.
  for (int64_t i = 1; i <= (int64_t)shape.size(); ++i)
    if (shape[shape.size() - i] != 1)
      from[shape.size() - i] = indices[indices.size() - i];
  return e.evaluate(op->getOperand(0), from, lanes);
}

/// Dimensions are matched from the right in groups of equal product; a group of one against one keeps its index.
XLC_RULE(reshapeElement) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  Indices mapped(from.size());
  int64_t i = from.size(), j = to.size();
  while (i > 0 || j > 0) {
    int64_t endFrom = i, endTo = j;
    int64_t productFrom = i > 0 ? from[--i] : 1, productTo = j > 0 ? to[--j] : 1;
    while (productFrom != productTo && (productFrom < productTo ? i : j) > 0)
      if (productFrom < productTo)
        productFrom *= from[--i];
      else
        productTo *= to[--j];
    auto groupTo = to.slice(j, endTo - j), groupFrom = from.slice(i, endFrom - i);
    Index linear = e.linearize(indices.slice(j, endTo - j), stridesOf(groupTo), lanes.width);
    llvm::copy(e.delinearize(linear, groupFrom, lanes.width), mapped.begin() + i);
  }
  return e.evaluate(op->getOperand(0), mapped, lanes);
}

XLC_RULE(transposeElement) {
  Indices from(indices.size());
  for (auto [i, dimension] : llvm::enumerate(cast<graph::TransposeOp>(op).getPermutation()))
    from[dimension] = indices[i];
  return e.evaluate(op->getOperand(0), from, lanes);
}

XLC_RULE(sliceElement) {
  auto slice = cast<graph::SliceOp>(op);
  Indices from;
  for (auto [index, offset, stride] : llvm::zip_equal(indices, slice.getOffsets(), slice.getStrides()))
    from.push_back(e.add(e.multiply(index, stride, lanes.width), e.constantIndex(offset), lanes.width));
  return e.evaluate(op->getOperand(0), from, lanes);
}

XLC_RULE(concatElement) {
  auto concat = cast<graph::ConcatOp>(op);
  int64_t dimension = concat.getDimension(), begin = 0;
  Value result;
  for (Value part : concat.getXs()) {
    Indices from(indices);
    from[dimension] = e.add(indices[dimension], e.constantIndex(-begin), lanes.width);
    begin += shapeOf(part)[dimension];
    if (shapeOf(part)[dimension] == 0)
      continue;
    Value otherwise = result ? result : e.constant(cast<ShapedType>(part.getType()).getElementType(), 0);
    result = elementOrElse(e, part, from, dimension, lanes, otherwise);
  }
  return result;
}

XLC_RULE(padElement) {
  auto pad = cast<graph::PadOp>(op);
  Value x = pad.getX(), outside = e.evaluate(pad.getValue(), {}, {});
  Indices from;
  SmallVector<int64_t> padded;
  for (auto [i, index] : llvm::enumerate(indices)) {
    from.push_back(e.add(index, e.constantIndex(-pad.getLow()[i]), lanes.width));
    if (pad.getLow()[i] || pad.getHigh()[i])
      padded.push_back(i);
  }
  return padded.empty() ? e.evaluate(x, from, lanes) : elementOrElse(e, x, from, padded, lanes, outside);
}

XLC_RULE(gatherElement) {
  auto gather = cast<graph::GatherOp>(op);
  int64_t dimension = gather.getDimension(), rank = shapeOf(gather.getIndices()).size();
  Value row = e.evaluate(gather.getIndices(), indices.slice(dimension, rank), lanes);
  Indices from(indices.take_front(dimension));
  from.push_back(e.indexOf(row));
  llvm::append_range(from, indices.drop_front(dimension + rank));
  return e.evaluate(gather.getTable(), from, lanes);
}

XLC_RULE(gatherElementsElement) {
  auto gather = cast<graph::GatherElementsOp>(op);
  int64_t lacking = indices.size() - shapeOf(gather.getIndices()).size();
  Value place = e.evaluate(gather.getIndices(), indices.drop_front(lacking), lanes);
  Indices from(indices);
  from[gather.getDimension()] = e.indexOf(place);
  return e.evaluate(gather.getX(), from, lanes);
}
#undef XLC_RULE

} // namespace xlc::lower
