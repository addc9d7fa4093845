// Verifiers of attention. See Verify.cpp.
#include "VerifyShapes.h"

#include "xlc/Runtime/Dropout.h"

using namespace mlir;
using namespace xlc::graph;

/// i1 or as q; each dimension but the last that of the scores, or 1.
static LogicalResult verifyBias(AttentionOp op, ArrayRef<int64_t> scores) {
  RankedTensorType type = typeOf(op.getBias());
  Type element = type.getElementType(), scored = typeOf(op.getQ()).getElementType();
  if (!element.isInteger(1) && element != scored && !(isNarrow(scored) && element.isF32()))
    return op.emitOpError() << "bias has element type " << element << ", but must be i1, the element type of q ("
                            << scored << "), or f32 if q is narrow";
  bool fits = type.getRank() == 4 && type.getShape().back() == scores.back();
  for (size_t i = 0; fits && i < 3; ++i)
    fits = type.getDimSize(i) == scores[i] || type.getDimSize(i) == 1;
  if (fits)
    return success();
  return op.emitOpError() << "bias [" << type.getShape() << "] does not broadcast to scores [" << scores << "]";
}

/// A ratio and what is drawn for it come together.
template <typename OpT> static LogicalResult verifyDropping(OpT op) {
  if (bool(op.getRatio()) != bool(op.getDraws()))
    return op.emitOpError("must have both a ratio and draws, or neither");
  if (!op.getRatio())
    return success();
  double ratio = op.getRatio()->convertToDouble();
  if (!(ratio > 0 && ratio < 1))
    return op.emitOpError() << "has dropout probability " << ratio << ", which must be above 0 and below 1";
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  return expectShape(op, "draws", op.getDraws(), {q[0], q[2], xlc::runtime::kHeadDraws});
}

LogicalResult AttentionBackwardOp::verify() { return verifyDropping(*this); }

LogicalResult AttentionOp::verify() {
  if (typeOf(getQ()).getRank() != 4 || typeOf(getK()).getRank() != 4 || typeOf(getV()).getRank() != 4)
    return emitOpError("q, k and v must have rank 4");
  ArrayRef<int64_t> q = shapeOf(getQ()), k = shapeOf(getK()), v = shapeOf(getV());
  if (q[0] != k[0] || q[3] != k[3] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2] || k[2] == 0 || q[2] % k[2])
    return emitOpError() << "q [" << q << "], k [" << k << "] and v [" << v << "] have incompatible shapes";
  if ((int64_t)getWindow().value_or(1) < 1)
    return emitOpError() << "window is " << (int64_t)*getWindow() << ", but must be at least 1";
  if (!(getScale().convertToDouble() > 0))
    return emitOpError() << "scale is " << getScale().convertToDouble() << ", but must be positive";
  if (getBias() && failed(verifyBias(*this, {q[0], q[2], q[1], k[1]})))
    return failure();
  if (failed(verifyDropping(*this)))
    return failure();
  if (failed(expectShape(*this, "out", getOut(), {q[0], q[1], q[2], v[3]})))
    return failure();
  return expectShape(*this, "lse", getLse(), {q[0], q[2], q[1]});
}
