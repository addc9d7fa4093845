// The opposite of raising, for `--no-raise`: every op with a kernel of its own becomes small ops, by
// one row of a table. What trains one way must train the other way to the same losses, so the two check
// each other.
#include "mlir/Transforms/RegionUtils.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Raise/Raise.h"

#include <cmath>

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_DECOMPOSENAMEDOPSPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }

/// Builds small ops in place of one.
struct Expansion {
  OpBuilder builder;
  Location loc;

  template <typename OpTy> Value unary(Value x) { return OpTy::create(builder, loc, x.getType(), x); }
  template <typename OpTy> Value binary(Value a, Value b) { return OpTy::create(builder, loc, a.getType(), a, b); }
  Value add(Value a, Value b) { return binary<graph::AddOp>(a, b); }
  Value sub(Value a, Value b) { return binary<graph::SubOp>(a, b); }
  Value mul(Value a, Value b) { return binary<graph::MulOp>(a, b); }
  Value div(Value a, Value b) { return binary<graph::DivOp>(a, b); }

  Value convert(Value x, Type type) {
    return x.getType() == type ? x : graph::CastOp::create(builder, loc, type, x).getResult();
  }
  Value broadcast(Value x, ArrayRef<int64_t> shape) {
    return graph::BroadcastOp::create(builder, loc, typeOf(x).clone(shape), x);
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    return graph::ReshapeOp::create(builder, loc, typeOf(x).clone(shape), x);
  }
  Value transpose(Value x, ArrayRef<int64_t> permutation) {
    SmallVector<int64_t> shape;
    for (int64_t d : permutation)
      shape.push_back(shapeOf(x)[d]);
    return graph::TransposeOp::create(builder, loc, typeOf(x).clone(shape), x, permutation);
  }
  Value contract(StringRef spec, Value a, Value b, ArrayRef<int64_t> shape) {
    return graph::ContractOp::create(builder, loc, typeOf(a).clone(shape), spec, a, b);
  }
  Value compare(graph::Predicate predicate, Value a, Value b) {
    return graph::CompareOp::create(builder, loc, typeOf(a).clone(builder.getI1Type()), predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return graph::SelectOp::create(builder, loc, a.getType(), condition, a, b);
  }

  /// A number repeated to the type of `like`.
  Value number(double value, Value like) {
    auto scalar = RankedTensorType::get({}, typeOf(like).getElementType());
    Attribute element;
    if (isa<FloatType>(scalar.getElementType()))
      element = builder.getFloatAttr(scalar.getElementType(), value);
    else
      element = builder.getIntegerAttr(scalar.getElementType(), (int64_t)value);
    Value constant = graph::ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, element));
    return shapeOf(like).empty() ? constant : broadcast(constant, shapeOf(like));
  }

  /// Combines the last dimension of x: [..., n] -> [...].
  Value reduceLast(graph::Reduction kind, Value x) {
    int64_t last = typeOf(x).getRank() - 1;
    return graph::ReduceOp::create(builder, loc, typeOf(x).clone(shapeOf(x).drop_back()), kind, x, ArrayRef(last));
  }
  Value reduceAll(Value x) {
    SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
    return graph::ReduceOp::create(builder, loc, typeOf(x).clone(ArrayRef<int64_t>{}), graph::Reduction::sum, x,
                                   dimensions);
  }
  /// [...] repeated along a new last dimension of `like`.
  Value alongLast(Value rows, Value like) {
    SmallVector<int64_t> shape(shapeOf(rows));
    shape.push_back(1);
    return broadcast(reshape(rows, shape), shapeOf(like));
  }
  Value meanLast(Value x) {
    Value sum = reduceLast(graph::Reduction::sum, x);
    return graph::ScaleOp::create(builder, loc, sum.getType(), sum, 1, shapeOf(x).back());
  }
  /// The largest of each row, to be subtracted for the sake of the range alone.
  Value largestLast(Value x) {
    Value largest = reduceLast(graph::Reduction::max, x);
    largest.getDefiningOp()->setAttr(graph::kCancels, builder.getUnitAttr());
    return largest;
  }
  Value softmax(Value x) {
    Value power = unary<graph::ExpOp>(sub(x, alongLast(largestLast(x), x)));
    return div(power, alongLast(reduceLast(graph::Reduction::sum, power), x));
  }
  /// log sum exp along the last dimension.
  Value logSumExp(Value x) {
    Value largest = largestLast(x);
    Value power = unary<graph::ExpOp>(sub(x, alongLast(largest, x)));
    return add(largest, unary<graph::LogOp>(reduceLast(graph::Reduction::sum, power)));
  }
  Value iota(ArrayRef<int64_t> shape, Type elementType, int64_t dimension) {
    return graph::IotaOp::create(builder, loc, RankedTensorType::get(shape, elementType), dimension);
  }
};

using Results = SmallVector<Value>;

Results expandSoftmax(Operation *op, Expansion &e) { return {e.softmax(op->getOperand(0))}; }

Results expandGelu(Operation *op, Expansion &e) {
  Value x = op->getOperand(0), inner;
  if (cast<graph::GeluOp>(op).getKind() == graph::GeluKind::tanh) {
    Value cube = e.mul(e.mul(x, x), x);
    Value sum = e.add(x, e.mul(cube, e.number(0.044715, x)));
    inner = e.unary<graph::TanhOp>(e.mul(sum, e.number(std::sqrt(2 / M_PI), x)));
  } else {
    inner = e.unary<graph::ErfOp>(e.mul(x, e.number(std::sqrt(0.5), x)));
  }
  return {e.mul(e.mul(x, e.number(0.5, x)), e.add(inner, e.number(1, x)))};
}

/// 1 / (1 + e^-x).
Value sigmoid(Value x, Expansion &e) {
  return e.div(e.number(1, x), e.add(e.number(1, x), e.unary<graph::ExpOp>(e.unary<graph::NegOp>(x))));
}

Results expandSigmoid(Operation *op, Expansion &e) { return {sigmoid(op->getOperand(0), e)}; }

Results expandSilu(Operation *op, Expansion &e) { return {e.mul(op->getOperand(0), sigmoid(op->getOperand(0), e))}; }

Results expandRmsNorm(Operation *op, Expansion &e) {
  auto norm = cast<graph::RmsNormOp>(op);
  Value x = norm.getX(), squares = e.meanLast(e.mul(x, x));
  Value deviation = e.unary<graph::SqrtOp>(e.add(squares, e.number(norm.getEpsilon().convertToDouble(), squares)));
  Value rstd = e.div(e.number(1, deviation), deviation);
  return {e.mul(e.mul(x, e.alongLast(rstd, x)), e.broadcast(norm.getWeight(), shapeOf(x))), rstd};
}

Results expandLayerNorm(Operation *op, Expansion &e) {
  auto norm = cast<graph::LayerNormOp>(op);
  Value x = norm.getX(), mean = e.meanLast(x);
  Value centered = e.sub(x, e.alongLast(mean, x));
  Value variance = e.meanLast(e.mul(centered, centered));
  Value deviation = e.unary<graph::SqrtOp>(e.add(variance, e.number(norm.getEpsilon().convertToDouble(), variance)));
  Value rstd = e.div(e.number(1, deviation), deviation);
  Value normal = e.mul(centered, e.alongLast(rstd, x));
  Value scaled = e.mul(normal, e.broadcast(norm.getWeight(), shapeOf(x)));
  return {e.add(scaled, e.broadcast(norm.getBias(), shapeOf(x))), mean, rstd};
}

/// Whether each label counts. Where none is ignored, every label equals itself.
Value compareWithIgnored(graph::CrossEntropyOp loss, Expansion &e) {
  Value labels = loss.getLabels();
  std::optional<int64_t> ignore = loss.getIgnoreIndex();
  if (!ignore)
    return e.compare(graph::Predicate::eq, labels, labels);
  Type element = typeOf(labels).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value ignored = graph::ConstantOp::create(
      e.builder, e.loc, scalar, DenseElementsAttr::get(scalar, (Attribute)e.builder.getIntegerAttr(element, *ignore)));
  if (!shapeOf(labels).empty())
    ignored = e.broadcast(ignored, shapeOf(labels));
  return e.compare(graph::Predicate::ne, labels, ignored);
}

/// The score of the label is picked by comparing every class number with it.
Results expandCrossEntropy(Operation *op, Expansion &e) {
  auto loss = cast<graph::CrossEntropyOp>(op);
  Value logits = loss.getLogits(), labels = loss.getLabels();
  Type element = typeOf(labels).getElementType();
  Value classes = e.iota(shapeOf(logits), element, typeOf(logits).getRank() - 1);
  Value isLabel = e.compare(graph::Predicate::eq, classes, e.alongLast(labels, logits));
  Value picked = e.reduceLast(graph::Reduction::sum, e.select(isLabel, logits, e.number(0, logits)));
  Value lse = e.logSumExp(logits);
  Value isCounted = compareWithIgnored(loss, e);
  Value rows = e.select(isCounted, e.sub(lse, picked), e.number(0, lse));
  Value counted = graph::CastOp::create(e.builder, e.loc, typeOf(labels).clone(e.builder.getI64Type()), isCounted);
  return {e.reduceAll(rows), e.reduceAll(counted), e.convert(lse, loss.getLse().getType())};
}

/// Which of [queries, keys] causality and the window leave; null: all.
Value visibleKeys(graph::AttentionOp op, int64_t queries, int64_t keys, Expansion &e) {
  Type index = e.builder.getI32Type();
  Value query = e.iota({queries, keys}, index, 0), key = e.iota({queries, keys}, index, 1), visible;
  auto require = [&](Value condition) { visible = visible ? e.binary<graph::AndOp>(visible, condition) : condition; };
  if (op.getMask() == graph::Mask::causal)
    require(e.compare(graph::Predicate::le, key, query));
  if (op.getWindow()) {
    Value distance = e.unary<graph::AbsOp>(e.sub(query, key));
    require(e.compare(graph::Predicate::lt, distance, e.number((double)*op.getWindow(), distance)));
  }
  return visible;
}

/// The scores [batch, heads, queries, keys] with what the op's bias and mask make of them.
Value maskScores(graph::AttentionOp op, Value scores, Expansion &e) {
  Value bias = op.getBias();
  bool isBoolean = bias && typeOf(bias).getElementType().isInteger(1);
  bool leavesNone = isBoolean && !op.getUniform();
  Value forbidden = e.number(leavesNone ? -INFINITY : -3.4028234663852886e38, scores);
  if (bias)
    bias = shapeOf(bias) == shapeOf(scores) ? bias : e.broadcast(bias, shapeOf(scores));
  if (bias)
    scores = isBoolean ? e.select(bias, scores, forbidden) : e.add(scores, bias);
  if (Value visible = visibleKeys(op, shapeOf(scores)[2], shapeOf(scores)[3], e))
    scores = e.select(e.broadcast(visible, shapeOf(scores)), scores, forbidden);
  return scores;
}

Results expandAttention(Operation *op, Expansion &e) {
  auto attention = cast<graph::AttentionOp>(op);
  Value q = attention.getQ(), k = attention.getK(), v = attention.getV();
  int64_t batch = shapeOf(q)[0], queries = shapeOf(q)[1], heads = shapeOf(q)[2], keys = shapeOf(k)[1];
  int64_t groups = shapeOf(k)[2], members = heads / groups;
  // heads = groups x members; members of a group share keys and values.
  q = e.reshape(q, {batch, queries, groups, members, shapeOf(q)[3]});
  Value scores = e.contract("bqgmd,bkgd->bgmqk", q, k, {batch, groups, members, queries, keys});
  scores = e.mul(scores, e.number(attention.getScale().convertToDouble(), scores));
  scores = maskScores(attention, e.reshape(scores, {batch, heads, queries, keys}), e);
  Value p = e.softmax(scores);
  if (attention.getBias()) { // a row that is -inf throughout
    auto isNan = graph::IsNanOp::create(e.builder, e.loc, typeOf(p).clone(e.builder.getI1Type()), p);
    p = e.select(isNan, e.number(0, p), p);
  }
  p = e.reshape(p, {batch, groups, members, queries, keys});
  Value out = e.contract("bgmqk,bkge->bqgme", p, v, {batch, queries, groups, members, shapeOf(v)[3]});
  Value lse = e.logSumExp(scores);
  return {e.reshape(out, {batch, queries, heads, shapeOf(v)[3]}), e.convert(lse, attention.getLse().getType())};
}

/// One row per op that has a name of its own.
struct Row {
  StringLiteral op;
  Results (*expand)(Operation *, Expansion &);
};
constexpr Row rows[] = {
    {"graph.softmax", expandSoftmax},
    {"graph.gelu", expandGelu},
    {"graph.layer_norm", expandLayerNorm},
    {"graph.cross_entropy", expandCrossEntropy},
    {"graph.attention", expandAttention},
    {"graph.sigmoid", expandSigmoid},
    {"graph.silu", expandSilu},
    {"graph.rms_norm", expandRmsNorm},
};

struct DecomposeNamedOps : xlc::impl::DecomposeNamedOpsPassBase<DecomposeNamedOps> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, const Row *>> work;
    getOperation().walk([&](Operation *op) {
      for (const Row &row : rows)
        if (op->getName().getStringRef() == row.op)
          work.push_back({op, &row});
    });
    for (auto [op, row] : work) {
      Expansion expansion{OpBuilder(op), op->getLoc()};
      op->replaceAllUsesWith(row->expand(op, expansion));
      op->erase();
    }
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
