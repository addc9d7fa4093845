// Attention against double loops: masks, grouped heads, odd sizes, strides of a fused qkv.
#include "Cpu/Attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace xlc::runtime;

namespace {

/// q, k, v side by side in rows of one tensor, as a fused projection leaves them.
struct Case {
  int64_t batch, queries, heads, groups, d;
  bool causal;

  int64_t width() const { return (heads + 2 * groups) * d; }
  std::vector<float> qkv, dqkv, out, dout;
  std::vector<double> lse;
  std::vector<double> expectedOut, expected;

  void run();
  void runNaive();
  void runNaiveRow(int64_t sample, int64_t head, int64_t i);
};

void Case::run() {
  int64_t rows = batch * queries;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-2, 2);
  qkv.resize(rows * width()), dqkv.assign(rows * width(), 99.0f), out.resize(rows * heads * d), dout.resize(out.size());
  lse.resize(rows * heads);
  for (auto *all : {&qkv, &dout})
    for (float &value : *all)
      value = values(random);
  HeadStrides in{queries * width(), width(), d}, plain{queries * heads * d, heads * d, d};
  AttentionShape shape{false, causal,  1 / std::sqrt((double)d),
                       batch, queries, queries,
                       heads, groups,  d,
                       d,     in,      in,
                       in,    plain,   plain,
                       in,    in,      in};
  float *q = qkv.data(), *dq = dqkv.data();
  AttentionOperands operands{q,  q + heads * d,  q + (heads + groups) * d, out.data(), lse.data(), dout.data(),
                             dq, dq + heads * d, dq + (heads + groups) * d};
  for (bool backward : {false, true}) {
    shape.backward = backward;
    std::vector<char> memory(attentionScratch(shape) + 64);
    for (int64_t item = attentionItems(shape); item-- > 0;)
      runAttention(shape, operands, item, (char *)(((uintptr_t)memory.data() + 63) / 64 * 64));
  }
}

void Case::runNaiveRow(int64_t sample, int64_t head, int64_t i) {
  int64_t group = head / (heads / groups), seen = causal ? i + 1 : queries;
  auto row = [&](int64_t position, int64_t column) { return (sample * queries + position) * width() + column * d; };
  int64_t qAt = row(i, head), outAt = ((sample * queries + i) * heads + head) * d;
  std::vector<double> p(seen);
  double total = 0, delta = 0;
  for (int64_t j = 0; j < seen; ++j) {
    double dot = 0;
    for (int64_t x = 0; x < d; ++x)
      dot += (double)qkv[qAt + x] * qkv[row(j, heads + group) + x];
    total += p[j] = std::exp(dot / std::sqrt((double)d));
  }
  for (int64_t x = 0; x < d; ++x) {
    for (int64_t j = 0; j < seen; ++j)
      expectedOut[outAt + x] += p[j] / total * qkv[row(j, heads + groups + group) + x];
    delta += expectedOut[outAt + x] * dout[outAt + x];
  }
  for (int64_t j = 0; j < seen; ++j) {
    double dp = 0;
    for (int64_t x = 0; x < d; ++x)
      dp += (double)dout[outAt + x] * qkv[row(j, heads + groups + group) + x];
    double ds = p[j] / total * (dp - delta) / std::sqrt((double)d);
    for (int64_t x = 0; x < d; ++x) {
      expected[qAt + x] += ds * qkv[row(j, heads + group) + x];
      expected[row(j, heads + group) + x] += ds * qkv[qAt + x];
      expected[row(j, heads + groups + group) + x] += p[j] / total * dout[outAt + x];
    }
  }
}

void Case::runNaive() {
  expectedOut.assign(out.size(), 0), expected.assign(qkv.size(), 0);
  for (int64_t sample = 0; sample < batch; ++sample)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = 0; i < queries; ++i)
        runNaiveRow(sample, head, i);
}

double difference(const std::vector<float> &a, const std::vector<double> &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST(Attention, EqualsTheNaiveLoopsForwardAndBackward) {
  for (bool causal : {false, true})
    for (int64_t queries : {1, 5, 32, 63, 64, 65, 129, 300})
      for (auto [heads, groups] : {std::pair<int64_t, int64_t>{1, 1}, {4, 2}, {6, 1}})
        for (int64_t d : {3, 16, 40}) {
          Case c{2, queries, heads, groups, d, causal, {}, {}, {}, {}, {}, {}, {}};
          c.run();
          c.runNaive();
          ASSERT_LT(difference(c.out, c.expectedOut), 4e-6) << queries << " " << heads << " " << d << " " << causal;
          ASSERT_LT(difference(c.dqkv, c.expected), 4e-5) << queries << " " << heads << " " << d << " " << causal;
        }
}

} // namespace
