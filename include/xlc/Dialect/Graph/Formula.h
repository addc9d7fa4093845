// A builder for small ops of `graph`, with which formulas are written as expressions.
#ifndef XLC_DIALECT_GRAPH_FORMULA_H
#define XLC_DIALECT_GRAPH_FORMULA_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

/// The form in which formulas are written.
enum class Spelling {
  Plain,    ///< numbers are constants of the full shape
  AsModels, ///< numbers are broadcast scalars; a value that already has the shape is not reshaped or broadcast
};

/// Builds small ops at one place. Operands of one call have the same type unless stated otherwise.
struct Formula {
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Sizes = llvm::ArrayRef<int64_t>;

  mlir::OpBuilder b;
  mlir::Location loc;
  Spelling spelling;

  Formula(const mlir::OpBuilder &b, mlir::Location loc, Spelling spelling) : b(b), loc(loc), spelling(spelling) {}
  /// Builds before `op`, with its location.
  explicit Formula(mlir::Operation *op, Spelling spelling = Spelling::Plain)
      : Formula(mlir::OpBuilder(op), op->getLoc(), spelling) {}

  static int64_t rankOf(Value x) { return typeOf(x).getRank(); }
  static bool isFloat(Value x) { return mlir::isa<mlir::FloatType>(typeOf(x).getElementType()); }

  template <typename OpTy> Value unary(Value x) { return OpTy::create(b, loc, x.getType(), x); }
  template <typename OpTy> Value binary(Value x, Value y) { return OpTy::create(b, loc, x.getType(), x, y); }
  Value add(Value x, Value y) { return binary<AddOp>(x, y); }
  Value sub(Value x, Value y) { return binary<SubOp>(x, y); }
  Value mul(Value x, Value y) { return binary<MulOp>(x, y); }
  Value div(Value x, Value y) { return binary<DivOp>(x, y); }
  Value max(Value x, Value y) { return binary<MaxOp>(x, y); }
  Value min(Value x, Value y) { return binary<MinOp>(x, y); }
  Value pow(Value x, Value y) { return binary<PowOp>(x, y); }
  Value both(Value x, Value y) { return binary<AndOp>(x, y); }
  Value either(Value x, Value y) { return binary<OrOp>(x, y); }
  Value neg(Value x) { return unary<NegOp>(x); }
  Value abs(Value x) { return unary<AbsOp>(x); }
  Value sign(Value x) { return unary<SignOp>(x); }
  Value exp(Value x) { return unary<ExpOp>(x); }
  Value log(Value x) { return unary<LogOp>(x); }
  Value sqrt(Value x) { return unary<SqrtOp>(x); }
  Value tanh(Value x) { return unary<TanhOp>(x); }
  Value erf(Value x) { return unary<ErfOp>(x); }
  Value floor(Value x) { return unary<FloorOp>(x); }
  Value scale(Value x, int64_t numerator, int64_t denominator) {
    return ScaleOp::create(b, loc, x.getType(), x, numerator, denominator);
  }

  /// A number as a scalar.
  Value scalar(double value, Type element);
  /// A number broadcast to a type, or to that of `like`.
  Value number(double value, mlir::RankedTensorType type);
  Value number(double value, Value like) { return number(value, typeOf(like)); }
  Value add(Value x, double value) { return add(x, number(value, x)); }
  Value sub(Value x, double value) { return sub(x, number(value, x)); }
  Value mul(Value x, double value) { return mul(x, number(value, x)); }
  Value div(Value x, double value) { return div(x, number(value, x)); }
  Value max(Value x, double value) { return max(x, number(value, x)); }
  Value min(Value x, double value) { return min(x, number(value, x)); }
  Value pow(Value x, double value) { return pow(x, number(value, x)); }

  Value compare(Predicate predicate, Value x, Value y) {
    return CompareOp::create(b, loc, typeOf(x).clone(b.getI1Type()), predicate, x, y);
  }
  Value isEqual(Value x, Value y) { return compare(Predicate::eq, x, y); }
  Value isEqual(Value x, double value) { return isEqual(x, number(value, x)); }
  Value isLess(Value x, Value y) { return compare(Predicate::lt, x, y); }
  Value isLess(Value x, double value) { return isLess(x, number(value, x)); }
  Value isAbove(Value x, double value) { return compare(Predicate::gt, x, number(value, x)); }
  Value select(Value condition, Value x, Value y) { return SelectOp::create(b, loc, x.getType(), condition, x, y); }
  Value select(Value condition, Value x, double y) { return select(condition, x, number(y, x)); }
  Value convert(Value x, Type element) {
    return typeOf(x).getElementType() == element ? x : CastOp::create(b, loc, typeOf(x).clone(element), x).getResult();
  }

  Value reshape(Value x, Sizes shape) {
    return isSpared(x, shape) ? x : ReshapeOp::create(b, loc, typeOf(x).clone(shape), x).getResult();
  }
  Value broadcast(Value x, Sizes shape) {
    return isSpared(x, shape) ? x : BroadcastOp::create(b, loc, typeOf(x).clone(shape), x).getResult();
  }
  Value broadcast(Value x, Value like) { return broadcast(x, typeOf(like).getShape()); }
  Value transpose(Value x, Sizes permutation);
  Value slice(Value x, Sizes offsets, Sizes sizes);
  Value gather(Value table, Value indices, int64_t axis);
  Value iota(Sizes shape, int64_t dimension) { return iota(shape, dimension, b.getI64Type()); }
  Value iota(Sizes shape, int64_t dimension, Type element) {
    return IotaOp::create(b, loc, mlir::RankedTensorType::get(shape, element), dimension);
  }
  /// A one-dimensional constant of int64 with these elements.
  Value integers(Sizes values);
  /// The product described by `spec` ("mk,kn->mn").
  Value contract(llvm::StringRef spec, Value x, Value y);

  /// Reduces along `axes` (ascending); with `keeps` they are kept with size 1.
  Value reduce(Reduction kind, Value x, Sizes axes, bool keeps);
  Value sum(Value x, Sizes axes, bool keeps) { return reduce(Reduction::sum, x, axes, keeps); }
  /// A reduction with kept axes, broadcast to the shape of x.
  Value reduceAlong(Reduction kind, Value x, Sizes axes) { return broadcast(reduce(kind, x, axes, true), x); }
  Value reduceAll(Reduction kind, Value x);
  /// Reduces the last dimension.
  Value reduceRows(Reduction kind, Value x) { return reduce(kind, x, rankOf(x) - 1, /*keeps=*/false); }
  Value meanOfRows(Value x) { return mul(reduceRows(Reduction::sum, x), 1.0 / typeOf(x).getShape().back()); }
  /// One value per row, broadcast along the rows of `like`.
  Value alongRows(Value x, Value like);

  /// 1 / (1 + e^-x).
  Value sigmoid(Value x) { return div(number(1, x), add(number(1, x), exp(neg(x)))); }
  /// e^x - 1 for x <= 0, without the cancellation near 0: 2t / (1 - t) with t = tanh(x/2).
  Value expMinusOne(Value x);
  /// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow.
  Value softplus(Value x);
  /// The square root, with a gradient of 0 at 0 as in PyTorch's norms.
  Value safeSqrt(Value x);
  /// log of the sum of exponentials along `axes`; -inf if all of them are -inf.
  Value logSumExp(Value x, Sizes axes, bool keeps);

private:
  bool isSpared(Value x, Sizes shape) const { return spelling == Spelling::AsModels && typeOf(x).getShape() == shape; }
};

/// A formula that is part of `like`: its ops have the location of `like`, and its unit and role if it has them.
class PartOf : public Formula, private mlir::OpBuilder::Listener {
public:
  PartOf(mlir::Operation *like, const mlir::OpBuilder &at, Spelling spelling)
      : Formula(at, like->getLoc(), spelling), like(like) {
    b.setListener(this);
  }
  PartOf(const PartOf &) = delete;

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(b, loc, std::forward<Args>(args)...);
  }
  /// Sets the unit and role of an op that was created elsewhere.
  void adopt(mlir::Operation *op) const;

private:
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override { adopt(op); }

  mlir::Operation *like;
};

} // namespace xlc::graph

#endif
