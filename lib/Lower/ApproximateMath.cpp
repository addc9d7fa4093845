// Functions of f32 as polynomials that vectors can evaluate. exp and tanh are ours, after Cephes (expf, tanhf) with
// fused multiply-adds: at most 2 units in the last place off, since training amplifies what they lose; log and erf
// are MLIR's. Where neither exists (f64, sin, cos, pow) an element is a call of the C library.
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xlc/Lower/Lower.h"

namespace xlc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;

namespace {

/// Arithmetic on values of one float type, scalar or vector.
struct Formula {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(double value) const {
    TypedAttr element = b.getFloatAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, (Attribute)element);
    return arith::ConstantOp::create(b, loc, element);
  }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) const { return math::FmaOp::create(b, loc, x, y, z); }
  /// Horner's scheme, highest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  Value isAbove(Value x, double bound) const {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, constant(bound));
  }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, loc, condition, x, y); }

  /// 2^n for an integral n in [-126, 127], by its exponent bits.
  Value powerOfTwo(Value n) const {
    Type integer = b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      integer = vector.clone(integer);
    auto bits = [&](int32_t value) -> Value {
      TypedAttr element = b.getI32IntegerAttr(value);
      if (auto vector = dyn_cast<VectorType>(integer))
        element = DenseElementsAttr::get(vector, (Attribute)element);
      return arith::ConstantOp::create(b, loc, element);
    };
    Value biased = arith::AddIOp::create(b, loc, arith::FPToSIOp::create(b, loc, integer, n), bits(127));
    return arith::BitcastOp::create(b, loc, type, arith::ShLIOp::create(b, loc, biased, bits(23)));
  }

  /// x = n ln 2 + r with |r| <= ln 2 / 2; 2^n in two steps, so that it reaches infinity and the smallest numbers.
  Value exp(Value x) const {
    Value clamped =
        arith::MinimumFOp::create(b, loc, arith::MaximumFOp::create(b, loc, x, constant(-104)), constant(89));
    Value n = math::RoundEvenOp::create(b, loc, mul(clamped, constant(1.44269504088896341)));
    Value r = fma(n, constant(-0.693359375), clamped);
    r = fma(n, constant(2.12194440e-4), r);
    Value p = polynomial(
        r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
    Value y = add(fma(p, mul(r, r), r), constant(1));
    Value half = math::FloorOp::create(b, loc, mul(n, constant(0.5)));
    return mul(mul(y, powerOfTwo(half)), powerOfTwo(sub(n, half)));
  }

  /// Near zero an odd polynomial, else 1 - 2 / (e^2|x| + 1) with the sign of x.
  Value tanh(Value x) const {
    Value size = math::AbsFOp::create(b, loc, x);
    Value square = mul(x, x);
    Value p = polynomial(square,
                         {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
    Value small = fma(mul(p, square), x, x);
    Value power = exp(add(size, size));
    Value large = sub(constant(1), arith::DivFOp::create(b, loc, constant(2), add(power, constant(1))));
    return select(isAbove(size, 0.625), math::CopySignOp::create(b, loc, large, x), small);
  }
};

template <typename OpT, Value (Formula::*compute)(Value) const> struct Approximate : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Formula formula{rewriter, op.getLoc(), op.getType()};
    rewriter.replaceOp(op, (formula.*compute)(op.getOperand()));
    return success();
  }
};

struct ApproximateMathPass : xlc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Approximate<math::ExpOp, &Formula::exp>, Approximate<math::TanhOp, &Formula::tanh>>(&getContext());
    populateMathPolynomialApproximationPatterns(patterns,
                                                [](StringRef op) { return op == "math.log" || op == "math.erf"; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
