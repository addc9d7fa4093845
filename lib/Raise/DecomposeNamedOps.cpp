// The inverse of raising, for `--no-raise`: every op with a kernel of its own is decomposed into small ops, by one row
// of a table. Both forms must train to the same losses, so each checks the other.
#include "EraseDead.h"
#include "SettleRows.h"
#include "xlc/Dialect/Graph/Draws.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Raise/Raise.h"

#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace xlc {
#define GEN_PASS_DEF_DECOMPOSENAMEDOPSPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

/// Builds small ops in place of one.
struct Expansion : Formula {
  explicit Expansion(Operation *op) : Formula(op, Spelling::AsModels) {}

  Value meanLast(Value x) { return scale(reduceRows(Reduction::sum, x), 1, shapeOf(x).back()); }
  /// The largest of each row, to be subtracted for the sake of the range alone.
  Value largestLast(Value x) {
    Value largest = reduceRows(Reduction::max, x);
    largest.getDefiningOp()->setAttr(kCancels, b.getUnitAttr());
    return largest;
  }
  Value softmax(Value x) {
    Value power = exp(sub(x, alongRows(largestLast(x), x)));
    return div(power, alongRows(reduceRows(Reduction::sum, power), x));
  }
  /// log sum exp along the last dimension.
  Value logSumExp(Value x) {
    Value largest = largestLast(x);
    return add(largest, log(reduceRows(Reduction::sum, exp(sub(x, alongRows(largest, x))))));
  }
};

using Results = SmallVector<Value>;

Results expandSoftmax(Operation *op, Expansion &e) { return {e.softmax(op->getOperand(0))}; }

Results expandGelu(Operation *op, Expansion &e) {
  Value x = op->getOperand(0), inner;
  if (cast<GeluOp>(op).getKind() == GeluKind::tanh) {
    Value cube = e.mul(e.mul(x, x), x);
    Value sum = e.add(x, e.mul(cube, 0.044715));
    inner = e.tanh(e.mul(sum, std::sqrt(2 / M_PI)));
  } else {
    inner = e.erf(e.mul(x, std::sqrt(0.5)));
  }
  return {e.mul(e.mul(x, 0.5), e.add(inner, 1.0))};
}

Results expandSigmoid(Operation *op, Expansion &e) { return {e.sigmoid(op->getOperand(0))}; }

Results expandSilu(Operation *op, Expansion &e) { return {e.mul(op->getOperand(0), e.sigmoid(op->getOperand(0)))}; }

Results expandRmsNorm(Operation *op, Expansion &e) {
  auto norm = cast<RmsNormOp>(op);
  Value x = norm.getX(), squares = e.meanLast(e.mul(x, x));
  Value deviation = e.sqrt(e.add(squares, e.number(norm.getEpsilon().convertToDouble(), squares)));
  Value rstd = e.div(e.number(1, deviation), deviation);
  return {e.mul(e.mul(x, e.alongRows(rstd, x)), e.broadcast(norm.getWeight(), x)), rstd};
}

Results expandLayerNorm(Operation *op, Expansion &e) {
  auto norm = cast<LayerNormOp>(op);
  Value x = norm.getX(), mean = e.meanLast(x);
  Value centered = e.sub(x, e.alongRows(mean, x));
  Value variance = e.meanLast(e.mul(centered, centered));
  Value deviation = e.sqrt(e.add(variance, e.number(norm.getEpsilon().convertToDouble(), variance)));
  Value rstd = e.div(e.number(1, deviation), deviation);
  Value normal = e.mul(centered, e.alongRows(rstd, x));
  Value scaled = e.mul(normal, e.broadcast(norm.getWeight(), x));
  return {e.add(scaled, e.broadcast(norm.getBias(), x)), mean, rstd};
}

/// Whether each label counts. Where none is ignored, every label equals itself.
Value compareWithIgnored(CrossEntropyOp loss, Expansion &e) {
  Value labels = loss.getLabels();
  std::optional<int64_t> ignore = loss.getIgnoreIndex();
  if (!ignore)
    return e.compare(Predicate::eq, labels, labels);
  Type element = typeOf(labels).getElementType();
  auto scalar = RankedTensorType::get({}, element);
  Value ignored = ConstantOp::create(e.b, e.loc, scalar,
                                     DenseElementsAttr::get(scalar, (Attribute)e.b.getIntegerAttr(element, *ignore)));
  return e.compare(Predicate::ne, labels, e.broadcast(ignored, labels));
}

/// The score of the label is picked by comparing every class number with it.
Results expandCrossEntropy(Operation *op, Expansion &e) {
  auto loss = cast<CrossEntropyOp>(op);
  Value logits = loss.getLogits(), labels = loss.getLabels();
  Type element = typeOf(labels).getElementType();
  Value classes = e.iota(shapeOf(logits), typeOf(logits).getRank() - 1, element);
  Value isLabel = e.compare(Predicate::eq, classes, e.alongRows(labels, logits));
  Value picked = e.reduceRows(Reduction::sum, e.select(isLabel, logits, e.number(0, logits)));
  Value lse = e.logSumExp(logits);
  Value isCounted = compareWithIgnored(loss, e);
  Value rows = e.select(isCounted, e.sub(lse, picked), e.number(0, lse));
  Value counted = e.convert(isCounted, e.b.getI64Type());
  return {e.reduceAll(Reduction::sum, rows), e.reduceAll(Reduction::sum, counted),
          e.convert(lse, typeOf(loss.getLse()).getElementType())};
}

/// Which of [queries, keys] causality and the window leave; null: all.
Value visibleKeys(AttentionOp op, int64_t queries, int64_t keys, Expansion &e) {
  Type index = e.b.getI32Type();
  Value query = e.iota({queries, keys}, 0, index), key = e.iota({queries, keys}, 1, index), visible;
  auto require = [&](Value condition) { visible = visible ? e.both(visible, condition) : condition; };
  if (op.getMask() == Mask::causal)
    require(e.compare(Predicate::le, key, query));
  if (op.getWindow()) {
    Value distance = e.abs(e.sub(query, key));
    require(e.compare(Predicate::lt, distance, e.number((double)*op.getWindow(), distance)));
  }
  return visible;
}

/// What the op's bias and mask add to the scores: `forbidden`, once, to those of keys that either of them forbids.
Value addedMask(AttentionOp op, Value scores, Value forbidden, Expansion &e) {
  Value added = e.broadcast(op.getBias(), scores);
  if (!e.isFloat(added))
    added = e.select(added, e.number(0, scores), forbidden);
  Value visible = visibleKeys(op, shapeOf(scores)[2], shapeOf(scores)[3], e);
  return visible ? e.select(e.broadcast(visible, scores), added, forbidden) : added;
}

/// The scores [batch, heads, queries, keys] with what the op's bias and mask make of them.
Value maskScores(AttentionOp op, Value scores, Expansion &e) {
  Value bias = op.getBias();
  bool isBoolean = bias && typeOf(bias).getElementType().isInteger(1);
  bool leavesNone = isBoolean && !op.getUniform();
  Value forbidden = e.number(leavesNone ? -INFINITY : -3.4028234663852886e38, scores);
  if (bias && op.getAdded())
    return e.add(scores, addedMask(op, scores, forbidden, e));
  if (bias) {
    bias = e.broadcast(bias, scores);
    scores = isBoolean ? e.select(bias, scores, forbidden) : e.add(scores, bias);
  }
  if (Value visible = visibleKeys(op, shapeOf(scores)[2], shapeOf(scores)[3], e))
    scores = e.select(e.broadcast(visible, scores), scores, forbidden);
  return scores;
}

Results expandAttention(Operation *op, Expansion &e) {
  auto attention = cast<AttentionOp>(op);
  Value q = attention.getQ(), k = attention.getK(), v = attention.getV();
  int64_t batch = shapeOf(q)[0], queries = shapeOf(q)[1], heads = shapeOf(q)[2], keys = shapeOf(k)[1];
  int64_t groups = shapeOf(k)[2], members = heads / groups;
  // heads = groups x members; members of a group share keys and values.
  q = e.reshape(q, {batch, queries, groups, members, shapeOf(q)[3]});
  Value scores = e.contract("bqgmd,bkgd->bgmqk", q, k);
  scores = e.mul(scores, attention.getScale().convertToDouble());
  scores = maskScores(attention, e.reshape(scores, {batch, heads, queries, keys}), e);
  std::optional<HiddenScores> settled;
  if (attention.getBias())
    scores = settled.emplace(settleRows(e, scores)).scores;
  Value p = e.softmax(scores), lse = e.logSumExp(scores);
  if (settled) {
    p = e.select(settled->along, e.number(0, p), p);
    lse = e.select(settled->hidden, e.number(-INFINITY, lse), lse);
  }
  if (attention.getRatio())
    p = dropScores(e, p, attention.getDraws(), attention.getRatio()->convertToDouble());
  p = e.reshape(p, {batch, groups, members, queries, keys});
  Value out = e.contract("bgmqk,bkge->bqgme", p, v);
  return {e.reshape(out, {batch, queries, heads, shapeOf(v)[3]}),
          e.convert(lse, typeOf(attention.getLse()).getElementType())};
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
      Expansion expansion(op);
      op->replaceAllUsesWith(row->expand(op, expansion));
      op->erase();
    }
    eraseDead(getOperation(), !work.empty());
  }
};

} // namespace
