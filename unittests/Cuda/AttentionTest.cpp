// Fused attention as it runs, beside float64: on the simulated device, or with XLC_CUDA_LIBRARIES set to nothing on a real one.
#include "Bench.h"
#include "Cuda/FusedAttention.h"
#include "xlc/Runtime/Narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

/// Values of [batch, position, head, feature], where strides leave gaps or do not.
struct Values {
  int64_t batch, positions, heads, features;
  HeadStrides strides;
  std::vector<double> numbers;

  double &at(int64_t b, int64_t i, int64_t h, int64_t f) {
    return numbers[(size_t)(((b * positions + i) * heads + h) * features + f)];
  }
  uint64_t bytes() const { return (uint64_t)(batch * strides.batch) * sizeof(Bf16); }
  template <class Body> void forEach(Body body) {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < positions; ++i)
        for (int64_t h = 0; h < heads; ++h)
          for (int64_t f = 0; f < features; ++f)
            body(at(b, i, h, f), (uint64_t)(b * strides.batch + i * strides.position + h * strides.head + f));
  }
  /// As they lie in memory.
  std::vector<Bf16> narrow() {
    std::vector<Bf16> result(bytes() / sizeof(Bf16));
    forEach([&](double number, uint64_t place) { result[place] = Bf16((float)number); });
    return result;
  }
};

/// `between`: elements between one position's heads and the next position's.
Values make(int64_t batch, int64_t positions, int64_t heads, int64_t features, int64_t between, unsigned seed) {
  int64_t position = heads * features + between;
  Values made{batch, positions, heads, features, {positions * position, position, features}, {}};
  made.numbers.resize((size_t)(batch * positions * heads * features));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (double &number : made.numbers)
    number = (float)Bf16(normal(random));
  return made;
}

/// Attention and its gradients as they are written on paper.
struct Paper {
  AttentionShape s;
  Values q, k, v, dout, out, dq, dk, dv;

  /// With a condition each sample has fewer keys, and the last one none.
  int64_t keysOf(int64_t b) const {
    return s.biasKind == AttentionBias::None ? s.keys : s.keys * (s.batch - 1 - b) / s.batch;
  }
  bool sees(int64_t b, int64_t i, int64_t j) const {
    return j < keysOf(b) && (!s.causal || (j <= i && (s.window == 0 || i - j < s.window)));
  }
  bool seesNone(int64_t b, int64_t i) const {
    for (int64_t j = 0; j < s.keys; ++j)
      if (sees(b, i, j))
        return false;
    return true;
  }
  /// What the condition adds to scores, one row for a sample, or for each of its queries.
  std::vector<float> bias() const {
    std::vector<float> made;
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t i = 0; i < conditionOf(s).queries; ++i)
        for (int64_t j = 0; j < s.keys; ++j)
          made.push_back(sees(b, i, j) ? 0 : kForbiddenScore);
    return made;
  }
  std::vector<double> probabilities(int64_t b, int64_t h, int64_t i) {
    std::vector<double> p((size_t)s.keys, 1.0 / (double)s.keys);
    if (seesNone(b, i))
      return p;
    double sum = 0;
    for (int64_t j = 0; j < s.keys; ++j) {
      double score = 0;
      for (int64_t f = 0; f < s.d; ++f)
        score += q.at(b, i, h, f) * k.at(b, j, groupOf(h), f);
      sum += p[(size_t)j] = sees(b, i, j) ? std::exp(s.scale * score) : 0;
    }
    for (double &each : p)
      each /= sum;
    return p;
  }
  int64_t groupOf(int64_t h) const { return h / (s.heads / s.groups); }

  void write() {
    for (Values *made : {&out, &dq, &dk, &dv})
      std::fill(made->numbers.begin(), made->numbers.end(), 0);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t i = 0; i < s.queries; ++i)
          writeRow(b, h, i);
  }
  void writeRow(int64_t b, int64_t h, int64_t i) {
    std::vector<double> p = probabilities(b, h, i), dp((size_t)s.keys);
    int64_t g = groupOf(h);
    double mean = 0;
    for (int64_t j = 0; j < s.keys; ++j) {
      for (int64_t f = 0; f < s.e; ++f) {
        out.at(b, i, h, f) += p[(size_t)j] * v.at(b, j, g, f);
        dv.at(b, j, g, f) += p[(size_t)j] * dout.at(b, i, h, f);
        dp[(size_t)j] += dout.at(b, i, h, f) * v.at(b, j, g, f);
      }
      mean += p[(size_t)j] * dp[(size_t)j];
    }
    for (int64_t j = 0; j < s.keys; ++j)
      for (int64_t f = 0; f < s.d; ++f) {
        double ds = s.scale * p[(size_t)j] * (dp[(size_t)j] - mean);
        dq.at(b, i, h, f) += ds * k.at(b, j, g, f);
        dk.at(b, j, g, f) += ds * q.at(b, i, h, f);
      }
  }
};

char *write(Bench &bench, Values &values) {
  std::vector<Bf16> narrow = values.narrow();
  char *at = bench.place(values.bytes());
  bench.write(narrow.data(), values.bytes(), at);
  return at;
}

/// The distance from float64, in the norm, over its length.
double distance(Values &expected, const std::vector<Bf16> &found) {
  double apart = 0, length = 0;
  expected.forEach([&](double number, uint64_t place) {
    double difference = (double)(float)found[place] - number;
    apart += difference * difference, length += number * number;
  });
  return std::sqrt(apart / length);
}

struct Case {
  const char *name;
  int64_t batch, heads, groups, features, window, between;
  bool causal, isPadded = false;
};

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, IsFloat64Rounded) {
  const Case &c = GetParam();
  constexpr int64_t positions = 128;
  auto values = [&](int64_t heads, unsigned seed) {
    return make(c.batch, positions, heads, c.features, c.between, seed);
  };
  AttentionShape s{};
  s.causal = c.causal, s.scale = 1 / std::sqrt((double)c.features), s.batch = c.batch, s.queries = s.keys = positions;
  s.heads = c.heads, s.groups = c.groups, s.d = s.e = c.features, s.window = c.window, s.type = FloatType::BF16;
  Paper paper{s,
              values(s.heads, 1),
              values(s.groups, 2),
              values(s.groups, 3),
              values(s.heads, 4),
              values(s.heads, 5),
              values(s.heads, 6),
              values(s.groups, 7),
              values(s.groups, 8)};
  s.q = s.out = s.dout = s.dq = paper.q.strides, s.k = s.v = s.dk = s.dv = paper.k.strides;
  if (c.isPadded) {
    paper.s.biasKind = s.biasKind = AttentionBias::Allow, paper.s.uniform = s.uniform = true;
    paper.s.bias = s.bias = {positions, 0, 0};
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t i = 0; i < s.queries; ++i)
        for (int64_t f = 0; paper.seesNone(b, i) && f < s.heads * s.e; ++f)
          paper.dout.at(b, i, 0, f) = 0;
  }
  ASSERT_TRUE(isFusedAttention(s));
  AttentionShape one = s;
  one.queries = 1;
  EXPECT_FALSE(isFusedAttention(one));
  AttentionShape added = s; // forward and backward alike: a gradient reaches scores that cuDNN has lost
  added.added = true;
  for (bool isBackward : {false, true}) {
    added.backward = isBackward;
    EXPECT_EQ(isFusedAttention(added), !c.isPadded);
  }
  paper.write();

  Bench bench;
  char *q = write(bench, paper.q), *k = write(bench, paper.k), *v = write(bench, paper.v);
  char *dout = write(bench, paper.dout), *out = write(bench, paper.out), *dq = write(bench, paper.dq);
  char *dk = write(bench, paper.dk), *dv = write(bench, paper.dv);
  AttentionShape backward = s;
  backward.backward = true;
  int64_t bytes = FusedAttentionWorkspace::bytes(backward, 80);
  char *workspace =
      bench.place((uint64_t)bytes); // backward finds the log-sum-exps at its begin, where forward left them
  if (std::vector<float> bias = paper.bias(); c.isPadded)
    for (int64_t place : {FusedAttentionWorkspace(s).bias, FusedAttentionWorkspace(backward).bias})
      bench.write(bias.data(), bias.size() * sizeof(float), workspace + place);
  cudnn::FusedAttention first(bench.library, bench.device(), "forward", s, FusedAttentionWorkspace::bytes(s, 80));
  cudnn::FusedAttention second(bench.library, bench.device(), "backward", backward, bytes);
  first.run(std::array{q, k, v, out}, workspace, bench.queue());
  second.run(std::array{q, k, v, out, dout, dq, dk, dv}, workspace, bench.queue());
  EXPECT_LT(distance(paper.out, bench.read<Bf16>(out, paper.out.bytes())), 4e-3);
  EXPECT_LT(distance(paper.dq, bench.read<Bf16>(dq, paper.dq.bytes())), 8e-3);
  EXPECT_LT(distance(paper.dk, bench.read<Bf16>(dk, paper.dk.bytes())), 8e-3);
  EXPECT_LT(distance(paper.dv, bench.read<Bf16>(dv, paper.dv.bytes())), 8e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, Attention,
                         testing::Values(Case{"Gpt", 2, 4, 4, 64, 0, 0, true}, Case{"Grouped", 1, 4, 2, 64, 0, 0, true},
                                         Case{"Window", 1, 2, 2, 64, 32, 0, true},
                                         Case{"All", 1, 2, 2, 128, 0, 0, false},
                                         Case{"Together", 1, 2, 2, 32, 0, 64, true},
                                         Case{"Padded", 3, 2, 2, 64, 0, 0, false, true},
                                         Case{"PaddedDecoder", 3, 2, 2, 64, 0, 0, true, true},
                                         Case{"PaddedWindow", 3, 4, 2, 64, 32, 0, true, true}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
