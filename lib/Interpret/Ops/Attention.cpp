// Rules of attention: the score matrix of one head and query at a time, written out.
//
// Backward recomputes the probabilities from q and k. The saved log-sum-exp and output are then not needed; in the
// field they are checked to be the right ones, so that a residual of another micro-batch is detected.
#include "Rules.h"

#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Philox.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

namespace {
/// Two ways to one number, of which a kernel may go either.
template <class E> E eitherOf(E value, E other) { return value; }
template <> Bounded eitherOf(Bounded value, Bounded other) {
  return {value.get(), std::max(value.error(), std::abs(value.get() - other.get()) + other.error())};
}

/// Probabilities of one query and head over the keys from `begin`.
template <class E> struct Row {
  int64_t begin = 0;
  std::vector<E> elements;
  bool isConstant = false; ///< no key is seen, and no gradient reaches the scores
};

/// Where the rows of q [batch, queries, heads, d], k and v [batch, keys, groups, d or e] stand.
template <class E> struct Attention {
  graph::Mask mask;
  int64_t window; ///< 0: none
  bool isUniform, isAdded;
  E scale;
  const Functions<E> &functions;
  const Tensor<E> &q, &k, &v;
  const Datum<E> *bias;  ///< null: none
  const Integers *draws; ///< null: nothing is dropped
  E keptScale{};
  int64_t firstKept = 0; ///< of the random words, without signs
  int64_t batch = q.shape[0], queries = q.shape[1], heads = q.shape[2], d = q.shape[3];
  int64_t keys = k.shape[1], groups = k.shape[2], width = v.shape[3];

  /// The number of f32 that programs multiply by.
  template <class OpT> static E roundedScale(OpT op) {
    return fromDouble<E>(double(float(op.getScale().convertToDouble())));
  }

  template <class OpT>
  Attention(OpT op, Evaluation<E> &e)
      : mask(op.getMask()), window(op.getWindow().value_or(0)), isUniform(op.getUniform()), isAdded(op.getAdded()),
        scale(roundedScale(op)), functions(e.functions), q(e.floats(0)), k(e.floats(1)), v(e.floats(2)),
        bias(findOperand(op, op.getBias(), e)), draws(nullptr) {
    if (!op.getDraws())
      return;
    draws = &std::get<Integers>(*findOperand(op, op.getDraws(), e));
    double ratio = op.getRatio()->convertToDouble();
    runtime::KeptScale kept(ratio);
    keptScale = fromInteger<E>(kept.numerator) / fromInteger<E>(kept.denominator);
    firstKept = runtime::firstKeptWord(ratio);
  }

  /// What the op's optional operand is; null where it is not there.
  static const Datum<E> *findOperand(Operation *op, Value operand, Evaluation<E> &e) {
    for (auto [number, each] : llvm::enumerate(op->getOperands()))
      if (operand && each == operand)
        return e.operands[number];
    return nullptr;
  }

  /// What the probability of key j has as its factor in the product with v: 1 / (1 - ratio), or 0 where it is dropped.
  E keptFactor(int64_t b, int64_t i, int64_t h, int64_t j) const {
    const int64_t *numbers = &draws->elements[(b * heads + h) * runtime::kHeadDraws];
    runtime::HeadDraws head{numbers[0], numbers[1], numbers[2]};
    uint32_t word = runtime::drawWord(head.first + i * keys + j, head.subsequence, head.key);
    return word >= firstKept ? keptScale : E();
  }
  /// The probabilities, or gradients of them, of the keys that are kept; all where nothing is dropped.
  void drop(int64_t b, int64_t i, int64_t h, int64_t begin, std::vector<E> &row) const {
    for (size_t j = 0; draws && j < row.size(); ++j)
      row[j] = row[j] * keptFactor(b, i, h, begin + j);
  }

  /// The row of q and of the output, and the row of k and v that a head reads.
  int64_t queryRow(int64_t b, int64_t i, int64_t h) const { return (b * queries + i) * heads + h; }
  int64_t keyRow(int64_t b, int64_t j, int64_t h) const { return (b * keys + j) * groups + h / (heads / groups); }
  int64_t lseIndex(int64_t b, int64_t i, int64_t h) const { return (b * heads + h) * queries + i; }

  /// What the bias makes of a score; it is repeated along its dimensions of size 1.
  E addBias(E score, int64_t b, int64_t i, int64_t h, int64_t j) const {
    auto offset = [&](const auto &tensor) {
      auto at = [&](int n, int64_t index) { return tensor.shape[n] == 1 ? 0 : index; };
      return ((at(0, b) * tensor.shape[1] + at(1, h)) * tensor.shape[2] + at(2, i)) * keys + j;
    };
    if (auto *allow = std::get_if<Integers>(bias))
      return allow->elements[offset(*allow)] ? score : lowest<E>();
    const auto &added = std::get<Tensor<E>>(*bias);
    return score + added.elements[offset(added)];
  }

  /// Fills `row` with the probabilities over the keys that query i may see; returns their log-sum-exp.
  E probabilities(int64_t b, int64_t i, int64_t h, Row<E> &row) const {
    int64_t end = mask == graph::Mask::causal ? i + 1 : window ? i + window : keys;
    row.begin = std::min(window ? std::max<int64_t>(0, i - window + 1) : 0, keys);
    row.elements.resize(std::max<int64_t>(0, std::min(end, keys) - row.begin));
    E largest = lowest<E>();
    for (size_t j = 0; j < row.elements.size(); ++j) {
      int64_t key = row.begin + j;
      E score = scale * dot(&q.elements[queryRow(b, i, h) * d], &k.elements[keyRow(b, key, h) * d], d);
      row.elements[j] = bias ? addBias(score, b, i, h, key) : score;
      largest = larger(largest, row.elements[j]);
    }
    bool seesNone = isForbidden(largest);
    row.isConstant = seesNone && !isAdded;
    return seesNone ? attendWithoutKeys(largest, row) : softmaxRow<E>(row.elements, functions);
  }

  /// All keys alike, or none.
  E attendWithoutKeys(E largest, Row<E> &row) const {
    bool attends = isUniform || largest > lowest<E>();
    row.begin = 0;
    row.elements.assign(attends ? keys : 0, fromInteger<E>(1) / fromInteger<E>(keys));
    return attends ? fromDouble<E>(std::numeric_limits<float>::lowest()) : lowest<E>();
  }

  static E dot(const E *a, const E *b, int64_t length) {
    ProductSum<E> sum;
    for (int64_t i = 0; i < length; ++i)
      sum.add(a[i], b[i]);
    return sum.get();
  }

  static void addScaled(E *y, E factor, const E *x, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      y[i] += factor * x[i];
  }

  /// out of one query and head, given its probabilities. `kept` becomes those that are not dropped.
  void output(int64_t b, int64_t i, int64_t h, const Row<E> &row, std::vector<E> &kept, E *out) const {
    kept = row.elements;
    drop(b, i, h, row.begin, kept);
    for (size_t j = 0; j < kept.size(); ++j)
      addScaled(out, kept[j], &v.elements[keyRow(b, row.begin + j, h) * width], width);
  }

  template <class Visit> LogicalResult forEachQuery(Visit visit) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t h = 0; h < heads; ++h)
          if (failed(visit(b, i, h)))
            return failure();
    return success();
  }
};
} // namespace

template <class E> LogicalResult AttentionRules<E>::attention(Evaluation<E> &e) {
  auto op = cast<graph::AttentionOp>(e.op);
  Attention<E> heads(op, e);
  Tensor<E> out(e.resultShape(0)), lse(e.resultShape(1));
  Row<E> row;
  std::vector<E> kept;
  (void)heads.forEachQuery([&](int64_t b, int64_t i, int64_t h) {
    lse.elements[heads.lseIndex(b, i, h)] = heads.probabilities(b, i, h, row);
    heads.output(b, i, h, row, kept, &out.elements[heads.queryRow(b, i, h) * heads.width]);
    return success();
  });
  (void)e.give(std::move(out));
  return e.give(std::move(lse));
}

template <class E> LogicalResult AttentionRules<E>::attentionBackward(Evaluation<E> &e) {
  auto op = cast<graph::AttentionBackwardOp>(e.op);
  Attention<E> heads(op, e);
  const Tensor<E> &out = e.floats(3), &lse = e.floats(4), &dout = e.floats(5);
  Tensor<E> dq(heads.q.shape), dk(heads.k.shape), dv(heads.v.shape);
  bool isNarrow = findNarrow(getElementTypeOrSelf(op.getOut())).has_value();
  Row<E> row;
  std::vector<E> dp, kept, again(heads.width);
  auto visit = [&](int64_t b, int64_t i, int64_t h) -> LogicalResult {
    int64_t query = heads.queryRow(b, i, h);
    if (!isSameSaved(heads.probabilities(b, i, h, row), lse.elements[heads.lseIndex(b, i, h)]))
      return op.emitOpError("has a saved log-sum-exp that does not match q and k");
    llvm::fill(again, E());
    heads.output(b, i, h, row, kept, again.data());
    for (int64_t x = 0; x < heads.width && !row.isConstant; ++x) // of queries without keys it is not read
      if (!isSameSaved(again[x], out.elements[query * heads.width + x]))
        return op.emitOpError("has a saved output that does not match q, k and v");

    // dP = M dout V^T, M what dropout multiplies by; dS = P (dP - sum P dP). The sum is that of dout and out too,
    // which may be rounded to sixteen bits.
    const E *cotangent = &dout.elements[query * heads.width];
    ArrayRef<E> p = row.elements;
    dp.assign(p.size(), E());
    E mean{};
    for (size_t j = 0; j < p.size(); ++j) {
      const E *value = &heads.v.elements[heads.keyRow(b, row.begin + j, h) * heads.width];
      dp[j] = heads.dot(cotangent, value, heads.width);
    }
    heads.drop(b, i, h, row.begin, dp);
    for (size_t j = 0; j < p.size(); ++j)
      mean += p[j] * dp[j];
    if (isNarrow)
      mean = eitherOf(mean, heads.dot(cotangent, &out.elements[query * heads.width], heads.width));
    for (size_t j = 0; j < p.size(); ++j) {
      int64_t key = heads.keyRow(b, row.begin + j, h), d = heads.d;
      heads.addScaled(&dv.elements[key * heads.width], kept[j], cotangent, heads.width);
      if (row.isConstant)
        continue;
      E ds = heads.scale * (p[j] * (dp[j] - mean));
      heads.addScaled(&dq.elements[query * d], ds, &heads.k.elements[key * d], d);
      heads.addScaled(&dk.elements[key * d], ds, &heads.q.elements[query * d], d);
    }
    return success();
  };
  if (failed(heads.forEachQuery(visit)))
    return failure();
  (void)e.give(std::move(dq));
  (void)e.give(std::move(dk));
  return e.give(std::move(dv));
}

XLC_INSTANTIATE_RULES(xlc::interpret::AttentionRules);
