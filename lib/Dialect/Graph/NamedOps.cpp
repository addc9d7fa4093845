// See NamedOps.h. The formulas are those of GraphOps.td, in an order of operations that is safe in floating point
// (maxima subtracted before exp, means before squares).
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Dialect/Graph/Update.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

using Values = SmallVector<Value, 3>;

Values expandScale(Formula f, ScaleOp op) {
  return {f.mul(op.getX(), (double)op.getNumerator() / op.getDenominator())};
}

/// GELU by tanh is x s with s = (1 + tanh u) / 2 = 1 / (1 + exp(-2u)) and u = sqrt(2/pi) (x + 0.044715 x^3).
constexpr double kTwiceRootOfTwoOverPi = 1.5957691216057308, kCubic = 0.044715;

Value geluGate(Formula &f, Value x) {
  Value odd = f.add(f.mul(f.mul(x, x), -kTwiceRootOfTwoOverPi * kCubic), f.number(-kTwiceRootOfTwoOverPi, x));
  return f.div(f.number(1, x), f.add(f.number(1, x), f.exp(f.mul(x, odd))));
}

Value normalDistribution(Formula &f, Value x) {
  Value erf = f.erf(f.mul(x, 0.7071067811865476));
  return f.mul(f.add(f.number(1, x), erf), 0.5);
}

Values expandGelu(Formula f, GeluOp op) {
  Value x = op.getX();
  if (op.getKind() == GeluKind::erf)
    return {f.mul(x, normalDistribution(f, x))};
  return {f.mul(x, geluGate(f, x))};
}

Values expandGeluBackward(Formula f, GeluBackwardOp op) {
  Value x = op.getX(), slope;
  if (op.getKind() == GeluKind::erf) {
    Value density = f.mul(f.exp(f.mul(f.mul(x, x), -0.5)), 0.3989422804014327);
    slope = f.add(normalDistribution(f, x), f.mul(x, density));
  } else {
    Value s = geluGate(f, x);
    Value inner = f.add(f.mul(f.mul(x, x), 3 * kTwiceRootOfTwoOverPi * kCubic), f.number(kTwiceRootOfTwoOverPi, x));
    Value change = f.mul(f.mul(s, f.sub(f.number(1, s), s)), inner);
    slope = f.add(s, f.mul(x, change));
  }
  return {f.mul(op.getDy(), slope)};
}

Values expandSoftmax(Formula f, SoftmaxOp op) {
  Value x = op.getX();
  Value power = f.exp(f.sub(x, f.alongRows(f.reduceRows(Reduction::max, x), x)));
  return {f.div(power, f.alongRows(f.reduceRows(Reduction::sum, power), x))};
}

Values expandLayerNorm(Formula f, LayerNormOp op) {
  Value x = op.getX(), mean = f.meanOfRows(x);
  Value centred = f.sub(x, f.alongRows(mean, x));
  Value variance = f.meanOfRows(f.mul(centred, centred));
  Value deviation = f.sqrt(f.add(variance, f.number(op.getEpsilon().convertToDouble(), variance)));
  Value rstd = f.div(f.number(1, variance), deviation);
  Value normal = f.mul(centred, f.alongRows(rstd, x));
  Value y = f.add(f.mul(normal, f.broadcast(op.getWeight(), x)), f.broadcast(op.getBias(), x));
  return {y, mean, rstd};
}

Values expandSigmoid(Formula f, SigmoidOp op) { return {f.sigmoid(op.getX())}; }

Values expandSilu(Formula f, SiluOp op) { return {f.mul(op.getX(), f.sigmoid(op.getX()))}; }

Values expandSiluBackward(Formula f, SiluBackwardOp op) {
  Value x = op.getX(), s = f.sigmoid(x), one = f.number(1, x);
  Value slope = f.mul(s, f.add(one, f.mul(x, f.sub(one, s))));
  return {f.mul(op.getDy(), slope)};
}

Values expandRmsNorm(Formula f, RmsNormOp op) {
  Value x = op.getX(), squares = f.meanOfRows(f.mul(x, x));
  Value root = f.sqrt(f.add(squares, f.number(op.getEpsilon().convertToDouble(), squares)));
  Value rstd = f.div(f.number(1, squares), root);
  return {f.mul(f.mul(x, f.alongRows(rstd, x)), f.broadcast(op.getWeight(), x)), rstd};
}

Values expandRmsNormBackward(Formula f, RmsNormBackwardOp op) {
  Value x = op.getX(), rstd = f.alongRows(op.getRstd(), x), normal = f.mul(x, rstd);
  Value g = f.mul(op.getDy(), f.broadcast(op.getWeight(), x));
  Value mean = f.meanOfRows(f.mul(g, normal));
  return {f.mul(rstd, f.sub(g, f.mul(normal, f.alongRows(mean, x))))};
}

Values expandRmsNormWeightBackward(Formula f, RmsNormWeightBackwardOp op) {
  Value x = op.getX(), product = f.mul(op.getDy(), f.mul(x, f.alongRows(op.getRstd(), x)));
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank() - 1));
  return {ReduceOp::create(f.b, f.loc, op.getDweight().getType(), Reduction::sum, product, rows)};
}

/// (x - mean) rstd.
Value normalized(Formula &f, Value x, Value mean, Value rstd) {
  return f.mul(f.sub(x, f.alongRows(mean, x)), f.alongRows(rstd, x));
}

Values expandLayerNormBackward(Formula f, LayerNormBackwardOp op) {
  Value x = op.getX(), normal = normalized(f, x, op.getMean(), op.getRstd());
  Value g = f.mul(op.getDy(), f.broadcast(op.getWeight(), x));
  Value meanG = f.meanOfRows(g), meanProduct = f.meanOfRows(f.mul(g, normal));
  Value inner = f.sub(f.sub(g, f.alongRows(meanG, x)), f.mul(normal, f.alongRows(meanProduct, x)));
  return {f.mul(f.alongRows(op.getRstd(), x), inner)};
}

Values expandLayerNormWeightBackward(Formula f, LayerNormWeightBackwardOp op) {
  Value x = op.getX(), normal = normalized(f, x, op.getMean(), op.getRstd());
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank() - 1));
  auto sum = [&](Value value) -> Value {
    return ReduceOp::create(f.b, f.loc, op.getDweight().getType(), Reduction::sum, value, rows);
  };
  return {sum(f.mul(op.getDy(), normal)), sum(op.getDy())};
}

/// Whether a row counts: its label is not the one to ignore. Where there is none, every label equals itself.
Value isCounted(Formula &f, Value labels, std::optional<int64_t> ignore) {
  return ignore ? f.compare(Predicate::ne, labels, f.number(*ignore, labels))
                : f.compare(Predicate::eq, labels, labels);
}

/// Element [row, label of the row], through the flat view of the logits; any element where the row does not count.
Value elementAtLabel(Formula &f, Value logits, Value labels, Value counted) {
  int64_t classes = typeOf(logits).getShape().back(), rows = typeOf(labels).getNumElements();
  Value flat = f.reshape(logits, {rows * classes});
  Value safe = f.reshape(f.select(counted, labels, f.number(0, labels)), {rows});
  Value wide = f.convert(safe, f.b.getI64Type());
  Value row = IotaOp::create(f.b, f.loc, wide.getType(), 0);
  Value position = f.add(f.mul(row, f.number(classes, row)), wide);
  Value element = GatherOp::create(f.b, f.loc, typeOf(flat).clone({rows}), flat, position, 0);
  return f.reshape(element, typeOf(labels).getShape());
}

/// The scores of the labels are taken first: what comes last may overwrite the logits.
Values expandCrossEntropy(Formula f, CrossEntropyOp op) {
  Value x = op.getLogits(), labels = op.getLabels();
  Value counted = isCounted(f, labels, op.getIgnoreIndex());
  Value scored = elementAtLabel(f, x, labels, counted), max = f.reduceRows(Reduction::max, x);
  Value sum = f.reduceRows(Reduction::sum, f.exp(f.sub(x, f.alongRows(max, x))));
  Type wide = typeOf(op.getLse()).getElementType();
  Value total = f.convert(sum, wide);
  Value lse = f.add(f.convert(max, wide), f.log(total));
  Value loss = f.sub(lse, f.convert(scored, wide));
  Value counts = f.convert(counted, f.b.getI64Type());
  Value lossSum = f.reduceAll(Reduction::sum, f.select(counted, loss, f.number(0, loss)));
  return {f.convert(lossSum, typeOf(op.getSum()).getElementType()), f.reduceAll(Reduction::sum, counts), lse};
}

/// A log-sum-exp is f64: what it is rounded to, and what that leaves, are taken from x, for few devices are quick with f64.
Values expandCrossEntropyBackward(Formula f, CrossEntropyBackwardOp op) {
  Value x = op.getLogits(), labels = op.getLabels(), lse = op.getLse();
  Value high = f.convert(lse, typeOf(x).getElementType());
  Value low = f.convert(f.sub(lse, f.convert(high, typeOf(lse).getElementType())), typeOf(x).getElementType());
  Value logarithm = f.sub(f.sub(x, f.alongRows(high, x)), f.alongRows(low, x));
  Value probability = f.exp(logarithm);
  Value label = f.alongRows(labels, x);
  Value column = IotaOp::create(f.b, f.loc, label.getType(), typeOf(x).getRank() - 1);
  Value hot = f.select(f.compare(Predicate::eq, column, label), f.number(1, x), f.number(0, x));
  Value gradient = f.mul(f.broadcast(op.getDsum(), x), f.sub(probability, hot));
  Value counted = f.alongRows(isCounted(f, labels, op.getIgnoreIndex()), x);
  return {f.select(counted, gradient, f.number(0, x))};
}

Values expandSumSquares(Formula f, SumSquaresOp op) {
  Value x = f.convert(op.getX(), f.b.getF64Type());
  return {f.convert(f.reduceAll(Reduction::sum, f.mul(x, x)), typeOf(op.getY()).getElementType())};
}

Values expandOptimizerStep(Formula f, OptimizerStepOp op) { return expandUpdate(f, op); }

using Expansion = Values (*)(Operation *);
template <auto expand> Values row(Operation *op) {
  // The op class is the second parameter of the expansion.
  auto call = []<typename OpT>(Values (*f)(Formula, OpT), Operation *op) { return f(Formula(op), cast<OpT>(op)); };
  return call(+expand, op);
}

struct Row {
  StringLiteral op;
  Expansion expand;
};
constexpr Row table[] = {
    {"graph.scale", row<expandScale>},
    {"graph.gelu", row<expandGelu>},
    {"graph.gelu_backward", row<expandGeluBackward>},
    {"graph.sigmoid", row<expandSigmoid>},
    {"graph.silu", row<expandSilu>},
    {"graph.silu_backward", row<expandSiluBackward>},
    {"graph.rms_norm", row<expandRmsNorm>},
    {"graph.rms_norm_backward", row<expandRmsNormBackward>},
    {"graph.rms_norm_weight_backward", row<expandRmsNormWeightBackward>},
    {"graph.softmax", row<expandSoftmax>},
    {"graph.layer_norm", row<expandLayerNorm>},
    {"graph.layer_norm_backward", row<expandLayerNormBackward>},
    {"graph.layer_norm_weight_backward", row<expandLayerNormWeightBackward>},
    {"graph.cross_entropy", row<expandCrossEntropy>},
    {"graph.cross_entropy_backward", row<expandCrossEntropyBackward>},
    {"graph.sum_squares", row<expandSumSquares>},
    {"graph.optimizer_step", row<expandOptimizerStep>},
};

const Row *findRow(StringRef opName) {
  const Row *row = llvm::find_if(table, [&](const Row &r) { return r.op == opName; });
  return row == std::end(table) ? nullptr : row;
}

} // namespace

bool graph::hasFormula(StringRef opName) { return findRow(opName); }

bool graph::isMadeByBackward(OperationName op) {
  StringRef name = op.getStringRef();
  return name.ends_with("_backward") || name == SumSquaresOp::getOperationName() ||
         name == OptimizerStepOp::getOperationName();
}

SmallVector<Value, 3> graph::writeFormula(Operation *op) { return findRow(op->getName().getStringRef())->expand(op); }

void graph::expandNamedOp(Operation *op) {
  if (!hasFormula(op->getName().getStringRef()))
    return;
  op->replaceAllUsesWith(writeFormula(op));
  op->erase();
}
