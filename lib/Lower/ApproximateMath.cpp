// Functions of f32 as polynomials that can be evaluated on vectors. exp and tanh are our own, after Cephes (expf,
// tanhf) with fused multiply-adds. Their error is at most 2 units in the last place (exp: 1), since training amplifies
// errors. log and erf are MLIR's. Where neither exists (f64, sin, cos, pow), each element is a call of the C library.
// For targets without a C library the logarithm of f64 is our own as well, and so are sin and cos of f32, after Cephes
// (sinf, cosf).
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xlc/Lower/Lower.h"

namespace xlc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;

namespace {

/// 1.5 * 2^23: floats from here to 2^24 are integers.
constexpr double kIntegers = 12582912;

/// Arithmetic on values of one float type, scalar or vector.
struct Formula {
  OpBuilder &b;
  Location loc;
  Type type;
  bool hasScaling = false; ///< see the pass's option

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
  Value compare(arith::CmpFPredicate how, Value x, double bound) const {
    return arith::CmpFOp::create(b, loc, how, x, constant(bound));
  }
  Value isAbove(Value x, double bound) const { return compare(arith::CmpFPredicate::OGT, x, bound); }
  /// Integers as wide as the floats.
  Type integers() const {
    Type integer = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.clone(integer) : integer;
  }
  Value bits(int64_t value) const {
    TypedAttr element = b.getIntegerAttr(getElementTypeOrSelf(integers()), value);
    if (auto vector = dyn_cast<VectorType>(integers()))
      element = DenseElementsAttr::get(vector, (Attribute)element);
    return arith::ConstantOp::create(b, loc, element);
  }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, loc, condition, x, y); }

  /// x = n ln 2 + r with |r| <= ln 2 / 2. Added to 1.5 * 2^23 a float is an integer in its low bits, so n is rounded, and
  /// its powers are made, without conversions, which GPUs have few units for.
  Value exp(Value x) const {
    Value clamped =
        arith::MinimumFOp::create(b, loc, arith::MaximumFOp::create(b, loc, x, constant(-104)), constant(89));
    Value shifted = fma(clamped, constant(1.44269504088896341), constant(kIntegers)),
          n = sub(shifted, constant(kIntegers));
    Value r = fma(n, constant(-0.693359375), clamped);
    r = fma(n, constant(2.12194440e-4), r);
    Value y = polynomial(r, {1.3926213476e-3, 8.3632029716e-3, 4.1666554438e-2, 1.6666576846e-1, 0.5, 1, 1});
    return scale(y, arith::BitcastOp::create(b, loc, integers(), shifted));
  }

  /// y 2^n for the n that the low bits of `whole` are, with y near 1: it reaches infinity and the smallest numbers. It is
  /// rounded once, in two steps as well, since the first is exact.
  Value scale(Value y, Value whole) const {
    if (hasScaling) { // llvm.intr.ldexp has one n for all lanes
      Value n = arith::SubIOp::create(b, loc, whole, bits(llvm::bit_cast<int32_t>(float(kIntegers))));
      return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr("llvm.ldexp"), ValueRange{y, n}).getResult(0);
    }
    Value half = arith::ShRSIOp::create(b, loc, whole, bits(1)), rest = arith::SubIOp::create(b, loc, whole, half);
    return mul(mul(y, powerOfTwo(half)), powerOfTwo(rest));
  }

  /// 2^n for the n in [-126, 127] that the low nine bits are: they become the exponent.
  Value powerOfTwo(Value n) const {
    Value exponent = arith::ShLIOp::create(b, loc, n, bits(23));
    return arith::BitcastOp::create(b, loc, type, arith::AddIOp::create(b, loc, exponent, bits(0x3f800000)));
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

  /// x = n pi/2 + r with |r| <= pi/4, reduced as doubles: sin or cos of r, by n mod 4. `turn`: 0 for sin, 1 for cos.
  Value sinOrCos(Value x, double turn) const {
    Type f64 = b.getF64Type();
    if (auto vector = dyn_cast<VectorType>(type))
      f64 = vector.clone(f64);
    Formula wide{b, loc, f64};
    Value w = arith::ExtFOp::create(b, loc, f64, x);
    Value n = math::RoundEvenOp::create(b, loc, wide.mul(w, wide.constant(6.36619772367581382433e-1)));
    Value r = wide.fma(n, wide.constant(-1.57079632679489655800), w);
    r = wide.fma(n, wide.constant(-6.12323399573676603587e-17), r);
    Value turns = wide.add(n, wide.constant(turn));
    Value whole = math::FloorOp::create(b, loc, wide.mul(turns, wide.constant(0.25)));
    Value quarter = wide.sub(turns, wide.mul(wide.constant(4), whole)); // 0, 1, 2 or 3
    Value y = arith::TruncFOp::create(b, loc, type, r), z = mul(y, y);
    Value sine = polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    sine = fma(mul(sine, z), y, y);
    Value cosine = polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
    cosine = fma(cosine, mul(z, z), fma(z, constant(-0.5), constant(1)));
    using Test = arith::CmpFPredicate;
    Value isSine =
        arith::OrIOp::create(b, loc, wide.compare(Test::OEQ, quarter, 0), wide.compare(Test::OEQ, quarter, 2));
    Value result = select(isSine, sine, cosine);
    return select(wide.isAbove(quarter, 1.5), sub(constant(-0.0), result), result);
  }
  Value sin(Value x) const { return sinOrCos(x, 0); }
  Value cos(Value x) const { return sinOrCos(x, 1); }

  /// Of doubles: x = 2^n m with m in [sqrt(1/2), sqrt(2)); ln m = f - (f^2 / 2 - s (f^2 / 2 + R(s^2))) with f = m - 1, s = f / (2 + f)
  /// and the coefficients of fdlibm. A subnormal x is scaled first.
  Value logOfDouble(Value x) const {
    constexpr int64_t mantissa = (int64_t(1) << 52) - 1, one = 0x3ff0000000000000, rootOfHalf = 0x3fe6a09e667f3bcd;
    using Test = arith::CmpFPredicate;
    Value isSmall = compare(Test::OLT, x, 0x1p-1022);
    Value scaled = select(isSmall, mul(x, constant(0x1p54)), x);
    Value raw = arith::BitcastOp::create(b, loc, integers(), scaled);
    Value moved = arith::AddIOp::create(b, loc, raw, bits(one - rootOfHalf));
    Value exponent = arith::SubIOp::create(b, loc, arith::ShRSIOp::create(b, loc, moved, bits(52)), bits(1023));
    Value n = sub(arith::SIToFPOp::create(b, loc, type, exponent), select(isSmall, constant(54), constant(0)));
    Value m = arith::AddIOp::create(b, loc, arith::AndIOp::create(b, loc, moved, bits(mantissa)), bits(rootOfHalf));
    Value f = sub(arith::BitcastOp::create(b, loc, type, m), constant(1));
    Value s = arith::DivFOp::create(b, loc, f, add(f, constant(2))), z = mul(s, s);
    Value rest = polynomial(z, {1.479819860511658591e-1, 1.531383769920937332e-1, 1.818357216161805012e-1,
                                2.222219843214978396e-1, 2.857142874366239149e-1, 3.999999999940941908e-1,
                                6.666666666666735130e-1});
    Value half = mul(mul(f, f), constant(0.5)), sum = mul(s, fma(z, rest, half));
    sum = fma(n, constant(1.90821492927058770002e-10), sum); // the low bits of ln 2
    Value result = sub(mul(n, constant(6.93147180369123816490e-1)), sub(sub(half, sum), f));
    Value outside = select(compare(Test::OEQ, x, 0), constant(-INFINITY),
                           select(compare(Test::OEQ, x, INFINITY), constant(INFINITY), constant(NAN)));
    Value isInside = arith::AndIOp::create(b, loc, isAbove(x, 0), compare(Test::OLT, x, INFINITY));
    return select(isInside, result, outside);
  }
};

template <typename OpT, Value (Formula::*compute)(Value) const, unsigned bits = 32>
struct Approximate : OpRewritePattern<OpT> {
  Approximate(MLIRContext *context, bool hasScaling) : OpRewritePattern<OpT>(context), hasScaling(hasScaling) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() && bits == 32)
      return failure();
    if (!getElementTypeOrSelf(op.getType()).isF64() && bits == 64)
      return failure();
    Formula formula{rewriter, op.getLoc(), op.getType(), hasScaling};
    rewriter.replaceOp(op, (formula.*compute)(op.getOperand()));
    return success();
  }

  bool hasScaling;
};

struct ApproximateMathPass : xlc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Approximate<math::ExpOp, &Formula::exp>, Approximate<math::TanhOp, &Formula::tanh>>(&getContext(),
                                                                                                     hasScaling);
    if (!hasLibrary)
      patterns.add<Approximate<math::LogOp, &Formula::logOfDouble, 64>, Approximate<math::SinOp, &Formula::sin>,
                   Approximate<math::CosOp, &Formula::cos>>(&getContext(), hasScaling);
    populateMathPolynomialApproximationPatterns(patterns,
                                                [](StringRef op) { return op == "math.log" || op == "math.erf"; });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
