// Formulas written as formulas: what rules of several ops build with. All operands of one call have one type unless
// said otherwise.
#ifndef XLC_IMPORT_FORMULA_H
#define XLC_IMPORT_FORMULA_H

#include "Rules.h"

namespace xlc::onnx {

struct Formula {
  NodeImport &n;
  using Value = mlir::Value;
  using Sizes = llvm::ArrayRef<int64_t>;

  static mlir::RankedTensorType typeOf(Value x) { return mlir::cast<mlir::RankedTensorType>(x.getType()); }
  static int64_t rankOf(Value x) { return typeOf(x).getRank(); }
  static bool isFloat(Value x) { return mlir::isa<mlir::FloatType>(typeOf(x).getElementType()); }

  template <typename OpTy> Value unary(Value x) { return OpTy::create(n.builder, n.loc, x.getType(), x); }
  template <typename OpTy> Value binary(Value a, Value b) { return OpTy::create(n.builder, n.loc, a.getType(), a, b); }
  Value add(Value a, Value b) { return binary<graph::AddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<graph::SubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<graph::MulOp>(a, b); }
  Value div(Value a, Value b) { return binary<graph::DivOp>(a, b); }
  Value max(Value a, Value b) { return binary<graph::MaxOp>(a, b); }
  Value min(Value a, Value b) { return binary<graph::MinOp>(a, b); }
  Value both(Value a, Value b) { return binary<graph::AndOp>(a, b); }
  Value either(Value a, Value b) { return binary<graph::OrOp>(a, b); }
  Value neg(Value x) { return unary<graph::NegOp>(x); }
  Value abs(Value x) { return unary<graph::AbsOp>(x); }
  Value exp(Value x) { return unary<graph::ExpOp>(x); }
  Value log(Value x) { return unary<graph::LogOp>(x); }
  Value sqrt(Value x) { return unary<graph::SqrtOp>(x); }
  Value tanh(Value x) { return unary<graph::TanhOp>(x); }
  Value floor(Value x) { return unary<graph::FloorOp>(x); }
  Value scale(Value x, int64_t numerator, int64_t denominator) {
    return graph::ScaleOp::create(n.builder, n.loc, x.getType(), x, numerator, denominator);
  }

  // With a number, which is repeated to the type of x.
  Value number(double value, Value x) { return n.splat(value, x); }
  Value add(Value x, double value) { return add(x, number(value, x)); }
  Value sub(Value x, double value) { return sub(x, number(value, x)); }
  Value mul(Value x, double value) { return mul(x, number(value, x)); }
  Value div(Value x, double value) { return div(x, number(value, x)); }
  Value max(Value x, double value) { return max(x, number(value, x)); }
  Value min(Value x, double value) { return min(x, number(value, x)); }

  Value compare(graph::Predicate predicate, Value a, Value b) {
    return graph::CompareOp::create(n.builder, n.loc, typeOf(a).clone(n.builder.getI1Type()), predicate, a, b);
  }
  Value isEqual(Value a, Value b) { return compare(graph::Predicate::eq, a, b); }
  Value isEqual(Value x, double value) { return isEqual(x, number(value, x)); }
  Value isLess(Value a, Value b) { return compare(graph::Predicate::lt, a, b); }
  Value isLess(Value x, double value) { return isLess(x, number(value, x)); }
  Value isAbove(Value x, double value) { return compare(graph::Predicate::gt, x, number(value, x)); }
  Value select(Value condition, Value a, Value b) {
    return graph::SelectOp::create(n.builder, n.loc, a.getType(), condition, a, b);
  }
  Value select(Value condition, Value a, double b) { return select(condition, a, number(b, a)); }
  Value convert(Value x, mlir::Type element) {
    auto type = typeOf(x).clone(element);
    return x.getType() == type ? x : graph::CastOp::create(n.builder, n.loc, type, x).getResult();
  }
  Value iota(Sizes shape, int64_t dimension, mlir::Type element) {
    return graph::IotaOp::create(n.builder, n.loc, mlir::RankedTensorType::get(shape, element), dimension);
  }
  Value iota(Sizes shape, int64_t dimension) { return iota(shape, dimension, n.builder.getI64Type()); }

  /// Combines along `axes` (ascending); with `keeps` they stay, of size 1.
  Value reduce(graph::Reduction kind, Value x, Sizes axes, bool keeps);
  Value sum(Value x, Sizes axes, bool keeps) { return reduce(graph::Reduction::sum, x, axes, keeps); }
  /// A reduction with kept axes, repeated to the shape of x.
  Value reduceAlong(graph::Reduction kind, Value x, Sizes axes);
  Value gather(Value table, Value indices, int64_t axis);
  Value slice(Value x, Sizes offsets, Sizes sizes);
  /// The one-dimensional integers `values` as a value of int64.
  Value integers(llvm::ArrayRef<int64_t> values);

  /// e^x - 1 for x <= 0, without the cancellation near 0: 2t / (1 - t) with t = tanh(x/2).
  Value expMinusOne(Value x);
  /// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow.
  Value softplus(Value x);
  /// The square root whose gradient at 0 is 0, as that of PyTorch's norms.
  Value safeSqrt(Value x);
  /// log of the sum of exponentials along `axes`; where all of them are -inf, -inf.
  Value logSumExp(Value x, Sizes axes, bool keeps);
};

/// The axes of a reduction: input `i` or attribute `axes`; all where none is given, unless noop_with_empty_axes.
/// False (and a problem) where they are unknown or do not exist.
bool readAxes(NodeImport &n, size_t i, Shape &axes);
/// Attribute `axis`, counted from the front; false (and a problem) where it does not exist.
bool readAxis(NodeImport &n, int64_t otherwise, int64_t &axis);
/// The integers of input `i`, or of the attribute that older opsets had in its place; false where they are unknown.
bool readInts(NodeImport &n, size_t i, llvm::StringRef name, std::optional<Shape> &result);
/// Input `i` where it is of float type; null (and a problem) otherwise.
mlir::Value readFloats(NodeImport &n, size_t i);
/// Indices of input `i` into a dimension of `size`: known ones are checked, others counted from the front and
/// clamped, so that nothing outside is ever read. Null (and a problem) where they are not integers, or outside.
mlir::Value readIndices(NodeImport &n, size_t i, int64_t size);
/// Input `i` where it is the integers of a model input, moved only: Import limits these (InputLimits.cpp). Null
/// otherwise.
mlir::Value readInputIndices(NodeImport &n, size_t i);

} // namespace xlc::onnx

#endif
