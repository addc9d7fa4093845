// Rules of attention: the score matrix of one head and query at a time, written out.
//
// Backward computes the probabilities again from q and k. The saved log-sum-exp and output
// are then not needed; the field checks that they are the right ones, so that a residual of
// another micro-batch does not pass unseen.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

namespace {
/// Where the rows of q [batch, queries, heads, d], k and v [batch, keys, groups, d or e] stand.
template <class E> struct Attention {
  graph::Mask mask;
  E scale;
  const Functions<E> &functions;
  const Tensor<E> &q, &k, &v;
  int64_t batch = q.shape[0], queries = q.shape[1], heads = q.shape[2], d = q.shape[3];
  int64_t keys = k.shape[1], groups = k.shape[2], width = v.shape[3];

  /// The row of q and of the output, and the row of k and v that a head reads.
  int64_t queryRow(int64_t b, int64_t i, int64_t h) const { return (b * queries + i) * heads + h; }
  int64_t keyRow(int64_t b, int64_t j, int64_t h) const { return (b * keys + j) * groups + h / (heads / groups); }
  int64_t lseIndex(int64_t b, int64_t i, int64_t h) const { return (b * heads + h) * queries + i; }

  /// Fills `row` with the probabilities over the keys that query i may see; returns their log-sum-exp.
  E probabilities(int64_t b, int64_t i, int64_t h, std::vector<E> &row) const {
    row.resize(mask == graph::Mask::causal ? std::min(i + 1, keys) : keys);
    for (size_t j = 0; j < row.size(); ++j)
      row[j] = scale * dot(&q.elements[queryRow(b, i, h) * d], &k.elements[keyRow(b, j, h) * d], d);
    return softmaxRow<E>(row, functions);
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

  /// out of one query and head, given its probabilities.
  void output(int64_t b, int64_t h, ArrayRef<E> row, E *out) const {
    for (size_t j = 0; j < row.size(); ++j)
      addScaled(out, row[j], &v.elements[keyRow(b, j, h) * width], width);
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
  Attention<E> heads{
      op.getMask(), fromDouble<E>(op.getScale().convertToDouble()), e.functions, e.floats(0), e.floats(1), e.floats(2)};
  Tensor<E> out(e.resultShape(0)), lse(e.resultShape(1));
  std::vector<E> row;
  (void)heads.forEachQuery([&](int64_t b, int64_t i, int64_t h) {
    lse.elements[heads.lseIndex(b, i, h)] = heads.probabilities(b, i, h, row);
    heads.output(b, h, row, &out.elements[heads.queryRow(b, i, h) * heads.width]);
    return success();
  });
  (void)e.give(std::move(out));
  return e.give(std::move(lse));
}

template <class E> LogicalResult AttentionRules<E>::attentionBackward(Evaluation<E> &e) {
  auto op = cast<graph::AttentionBackwardOp>(e.op);
  Attention<E> heads{
      op.getMask(), fromDouble<E>(op.getScale().convertToDouble()), e.functions, e.floats(0), e.floats(1), e.floats(2)};
  const Tensor<E> &out = e.floats(3), &lse = e.floats(4), &dout = e.floats(5);
  Tensor<E> dq(heads.q.shape), dk(heads.k.shape), dv(heads.v.shape);
  std::vector<E> row, dp, again(heads.width);
  auto visit = [&](int64_t b, int64_t i, int64_t h) -> LogicalResult {
    int64_t query = heads.queryRow(b, i, h);
    if (!isSameSaved(heads.probabilities(b, i, h, row), lse.elements[heads.lseIndex(b, i, h)]))
      return op.emitOpError("the saved log-sum-exp is not that of q and k");
    llvm::fill(again, E());
    heads.output(b, h, row, again.data());
    for (int64_t x = 0; x < heads.width; ++x)
      if (!isSameSaved(again[x], out.elements[query * heads.width + x]))
        return op.emitOpError("the saved output is not that of q, k and v");

    // dP = dout V^T; dS = P (dP - sum P dP).
    const E *cotangent = &dout.elements[query * heads.width];
    dp.assign(row.size(), E());
    E mean{};
    for (size_t j = 0; j < row.size(); ++j) {
      dp[j] = heads.dot(cotangent, &heads.v.elements[heads.keyRow(b, j, h) * heads.width], heads.width);
      mean += row[j] * dp[j];
    }
    for (size_t j = 0; j < row.size(); ++j) {
      int64_t key = heads.keyRow(b, j, h), d = heads.d;
      E ds = heads.scale * (row[j] * (dp[j] - mean));
      heads.addScaled(&dv.elements[key * heads.width], row[j], cotangent, heads.width);
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
