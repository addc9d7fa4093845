// Formulas written as formulas: builds small ops of `graph` in one place.
#ifndef XLC_DIALECT_GRAPH_FORMULA_H
#define XLC_DIALECT_GRAPH_FORMULA_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc::graph {

inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }

/// Builds small ops before one op, with its location. Operands of one call have one type unless said otherwise.
struct Formula {
  using Value = mlir::Value;
  using Type = mlir::Type;

  mlir::OpBuilder b;
  mlir::Location loc;

  explicit Formula(mlir::Operation *op) : b(op), loc(op->getLoc()) {}

  Value add(Value x, Value y) { return AddOp::create(b, loc, x.getType(), x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, loc, x.getType(), x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x.getType(), x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, loc, x.getType(), x, y); }
  Value exp(Value x) { return ExpOp::create(b, loc, x.getType(), x); }
  Value sqrt(Value x) { return SqrtOp::create(b, loc, x.getType(), x); }
  Value sign(Value x) { return SignOp::create(b, loc, x.getType(), x); }
  /// A number, repeated to the type of `like`.
  Value number(double value, Value like);
  Value times(Value x, double factor) { return mul(x, number(factor, x)); }
  Value convert(Value x, Type element) {
    return typeOf(x).getElementType() == element ? x : CastOp::create(b, loc, typeOf(x).clone(element), x).getResult();
  }
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape) { return ReshapeOp::create(b, loc, typeOf(x).clone(shape), x); }
  Value broadcast(Value x, Value like) {
    return BroadcastOp::create(b, loc, typeOf(x).clone(typeOf(like).getShape()), x);
  }
  /// One value per row, repeated along the rows of `like`.
  Value alongRows(Value x, Value like);
  /// Combines the last dimension.
  Value reduceRows(Reduction kind, Value x);
  Value meanOfRows(Value x) { return times(reduceRows(Reduction::sum, x), 1.0 / typeOf(x).getShape().back()); }
  Value reduceAll(Reduction kind, Value x);
  Value compare(Predicate predicate, Value x, Value y) {
    return CompareOp::create(b, loc, typeOf(x).clone(b.getI1Type()), predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) { return SelectOp::create(b, loc, x.getType(), condition, x, y); }
};

} // namespace xlc::graph

#endif
