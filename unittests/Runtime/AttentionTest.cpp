// Attention against double loops: masks, windows, biases, grouped heads, odd sizes, strides of a fused qkv, types.
#include "Cpu/Attention.h"
#include "CpuLevels.h"
#include "Elements.h"
#include "xlc/Runtime/Philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

/// q, k, v side by side in rows of one tensor, as a fused projection leaves them. Numbers are those of the type.
struct Case {
  int64_t batch, queries, heads, groups, d;
  bool causal;
  int64_t window = 0;
  AttentionBias biasKind = AttentionBias::None;
  bool uniform = false, isAdded = false;
  FloatType type = FloatType::F32;
  double ratio = 0;

  int64_t width() const { return (heads + 2 * groups) * d; }
  std::vector<float> qkv, dqkv, out, dout;
  std::vector<double> lse;
  std::vector<double> expectedOut, expected;
  std::vector<float> added;     // [batch, 1, queries, queries]
  std::vector<uint8_t> allowed; // likewise
  std::vector<HeadDraws> draws; // [batch, heads]

  void makeBias();
  /// Heads begin anywhere among four words, and some beyond what 32 bits count.
  void makeDraws();
  /// What dropout multiplies a probability by.
  double keptFactor(int64_t sample, int64_t head, int64_t i, int64_t j) const;
  /// The score of a key beside its product; -infinity where it is not seen.
  double biasOf(int64_t sample, int64_t i, int64_t j) const;
  void run();
  void runKernels();
  void runNaive();
  void runNaiveRow(int64_t sample, int64_t head, int64_t i);
};

/// In sample 1, queries 0 and 3 see no key.
void Case::makeBias() {
  std::mt19937 random(11);
  for (int64_t i = 0; i < batch * queries * queries; ++i) {
    bool isEmpty = i / queries % queries % 3 == 0 && i / queries < 2 * queries && i >= queries * queries &&
                   i / queries % queries < 4;
    bool allows = !isEmpty && random() % 3 != 0;
    allowed.push_back(allows ? 1 + random() % 2 : 0);
    added.push_back(allows ? (float)(random() % 5) / 4 : -INFINITY);
  }
}

void Case::makeDraws() {
  for (int64_t head = 0; head < batch * heads; ++head)
    draws.push_back(
        {((int64_t)7 << 33) * (head % 2) + head * queries * queries + head, 0x1234567890, 0x6472617700000003});
}

double Case::keptFactor(int64_t sample, int64_t head, int64_t i, int64_t j) const {
  if (ratio == 0)
    return 1;
  const HeadDraws &from = draws[sample * heads + head];
  uint32_t word = drawWord((uint64_t)(from.first + i * queries + j), (uint64_t)from.subsequence, (uint64_t)from.key);
  return (word >> 1) >= std::llround(ratio * 0x1p31) ? 1 / (1 - ratio) : 0;
}

double Case::biasOf(int64_t sample, int64_t i, int64_t j) const {
  int64_t at = (sample * queries + i) * queries + j;
  if ((causal && j > i) || (window && std::abs(i - j) >= window))
    return -INFINITY;
  if (biasKind == AttentionBias::None)
    return 0;
  return biasKind == AttentionBias::Add ? added[at] : allowed[at] ? 0 : -INFINITY;
}

void Case::run() {
  makeBias();
  makeDraws();
  int64_t rows = batch * queries;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-2, 2);
  qkv.resize(rows * width()), dqkv.assign(rows * width(), 99.0f), out.resize(rows * heads * d), dout.resize(out.size());
  lse.resize(rows * heads);
  for (auto *all : {&qkv, &dout})
    for (float &value : *all)
      value = values(random);
  qkv = Elements(type, qkv).floats(), dout = Elements(type, dout).floats();
  runKernels();
}

void Case::runKernels() {
  HeadStrides in{queries * width(), width(), d}, plain{queries * heads * d, heads * d, d};
  AttentionShape shape{false, causal,  1 / std::sqrt((double)d),
                       batch, queries, queries,
                       heads, groups,  d,
                       d,     in,      in,
                       in,    plain,   plain,
                       in,    in,      in};
  shape.window = window, shape.uniform = uniform, shape.added = isAdded, shape.biasKind = biasKind, shape.type = type;
  shape.ratio = ratio;
  shape.bias = {queries * queries, 0, queries};
  Elements ins(type, qkv), results(type, dqkv), outs(type, out), douts(type, dout);
  char *q = (char *)ins.data(), *dq = (char *)results.data();
  int64_t k = heads * d * bytesOf(type), v = (heads + groups) * d * bytesOf(type);
  AttentionOperands operands{q, q + k, q + v, outs.data(), lse.data(), douts.data(), dq, dq + k, dq + v};
  operands.draws = draws.data();
  operands.bias = biasKind == AttentionBias::Add ? (const void *)added.data() : allowed.data();
  for (bool backward : {false, true}) {
    shape.backward = backward;
    std::vector<char> memory(attentionScratch(shape) + 64);
    for (int64_t item = attentionItems(shape); item-- > 0;)
      runAttention(shape, operands, item, (char *)(((uintptr_t)memory.data() + 63) / 64 * 64));
  }
  out = outs.floats(), dqkv = results.floats();
}

void Case::runNaiveRow(int64_t sample, int64_t head, int64_t i) {
  int64_t group = head / (heads / groups), outAt = ((sample * queries + i) * heads + head) * d;
  // Where the part of a head begins. In the loops over its width there are bare pointers: sanitizers look at each access.
  auto row = [&](int64_t position, int64_t column) { return (sample * queries + position) * width() + column * d; };
  auto keyOf = [&](int64_t j) { return row(j, heads + group); };
  auto valueOf = [&](int64_t j) { return row(j, heads + groups + group); };
  const float *q = &qkv[row(i, head)], *dO = &dout[outAt];
  double *dq = &expected[row(i, head)], *o = &expectedOut[outAt];
  std::vector<double> p(queries);
  double total = 0, delta = 0;
  for (int64_t j = 0; j < queries; ++j)
    total += p[j] =
        std::exp(std::inner_product(q, q + d, &qkv[keyOf(j)], 0.0) / std::sqrt((double)d) + biasOf(sample, i, j));
  bool isEmpty = total == 0;
  // Backward is given a narrow `out` as it was rounded, and needs it where a query's keys are no single block.
  bool usesOut = type != FloatType::F32 && queries > 128;
  for (int64_t j = 0; j < queries; ++j) {
    p[j] = isEmpty ? (uniform ? 1.0 / (double)queries : 0) : p[j] / total;
    const float *v = &qkv[valueOf(j)];
    double kept = p[j] * keptFactor(sample, head, i, j);
    for (int64_t x = 0; x < d; ++x)
      o[x] += kept * v[x];
  }
  for (int64_t x = 0; x < d; ++x)
    delta += (usesOut ? out[outAt + x] : o[x]) * dO[x];
  for (int64_t j = 0; j < queries; ++j) {
    double factor = keptFactor(sample, head, i, j);
    double dp = factor * std::inner_product(dO, dO + d, &qkv[valueOf(j)], 0.0);
    double ds = isEmpty && !isAdded ? 0 : p[j] * (dp - delta) / std::sqrt((double)d);
    const float *k = &qkv[keyOf(j)];
    double *dk = &expected[keyOf(j)], *dv = &expected[valueOf(j)];
    for (int64_t x = 0; x < d; ++x) {
      dq[x] += ds * k[x];
      dk[x] += ds * q[x];
      dv[x] += factor * p[j] * dO[x];
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

double difference(FloatType type, const std::vector<float> &a, const std::vector<double> &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, errorBeyondRounding(type, b[i], a[i]));
  return worst;
}

void expectNaive(Case c) {
  c.run();
  c.runNaive();
  std::string what = std::to_string(c.queries) + " queries, " + std::to_string(c.heads) + " heads, width " +
                     std::to_string(c.d) + ", causal " + std::to_string(c.causal) + ", window " +
                     std::to_string(c.window) + ", bias " + std::to_string((int)c.biasKind) + ", added " +
                     std::to_string(c.isAdded) + ", ratio " + std::to_string(c.ratio) + ", " + nameOf(c.type);
  ASSERT_LT(difference(c.type, c.out, c.expectedOut), 4e-6) << what;
  ASSERT_LT(difference(c.type, c.dqkv, c.expected), 4e-5) << what;
}

/// In float32, and in one of the narrow types, by turns.
void expectNaiveInTwoTypes(Case c) {
  expectNaive(c);
  c.type = (c.queries + c.d + c.window) % 2 ? FloatType::BF16 : FloatType::F16;
  expectNaive(c);
}

// Large... : what takes long, of which the tree with sanitizers has the smaller ones (test/run_all.py).
void expectNaiveInShapes(std::initializer_list<int64_t> numbersOfQueries) {
  for (bool causal : {false, true})
    for (int64_t queries : numbersOfQueries)
      for (auto [heads, groups] : {std::pair<int64_t, int64_t>{1, 1}, {4, 2}, {6, 1}})
        for (int64_t d : {3, 16, 40})
          expectNaiveInTwoTypes(
              {.batch = 2, .queries = queries, .heads = heads, .groups = groups, .d = d, .causal = causal});
}

TEST(Attention, EqualsTheNaiveLoopsForwardAndBackward) { expectNaiveInShapes({1, 5, 32, 63, 64, 65, 129}); }
TEST(Attention, LargeOnesEqualTheNaiveLoops) { expectNaiveInShapes({300}); }

void expectNaiveThatDrops(std::initializer_list<int64_t> numbersOfQueries) {
  for (double ratio : {(double)0.1F, 0.5, 0.75})
    for (bool causal : {false, true})
      for (int64_t queries : numbersOfQueries)
        for (int64_t groups : {1, 2})
          expectNaiveInTwoTypes({.batch = 2,
                                 .queries = queries,
                                 .heads = 4,
                                 .groups = groups,
                                 .d = 16,
                                 .causal = causal,
                                 .window = queries > 100 ? 70 : 0,
                                 .biasKind = groups == 2 ? AttentionBias::Allow : AttentionBias::None,
                                 .uniform = causal,
                                 .ratio = ratio});
}

TEST(Attention, ProbabilitiesAreDroppedByTheDefinition) { expectNaiveThatDrops({1, 5, 64, 65, 129}); }
TEST(Attention, LargeOnesDrop) { expectNaiveThatDrops({300}); }

TEST(Attention, WindowsForbidWhatIsFar) {
  for (bool causal : {false, true})
    for (int64_t queries : {5, 64, 300})
      for (int64_t window : {1, 2, 63, 64, 200, 1000})
        expectNaiveInTwoTypes(
            {.batch = 2, .queries = queries, .heads = 4, .groups = 2, .d = 16, .causal = causal, .window = window});
}

void expectNaiveWithBiases(std::initializer_list<int64_t> numbersOfQueries) {
  for (AttentionBias kind : {AttentionBias::Allow, AttentionBias::Add})
    for (bool causal : {false, true})
      for (int64_t window : {0, 7})
        for (int64_t queries : numbersOfQueries)
          for (auto [uniform, isAdded] : {std::pair{false, false}, {true, false}, {true, true}, {false, true}})
            expectNaiveInTwoTypes({.batch = 2,
                                   .queries = queries,
                                   .heads = 4,
                                   .groups = 2,
                                   .d = 16,
                                   .causal = causal,
                                   .window = window,
                                   .biasKind = kind,
                                   .uniform = uniform,
                                   .isAdded = isAdded});
}

TEST(Attention, BiasesAddAndForbidAndLeaveQueriesWithoutKeys) { expectNaiveWithBiases({5, 64, 129}); }
TEST(Attention, LargeOnesTakeBiases) { expectNaiveWithBiases({300}); }

/// A condition, and floats that say the same.
void expectSameByLowestFloats(Case c) {
  c.run();
  Case lowest = c;
  lowest.biasKind = AttentionBias::Add, lowest.uniform = false;
  lowest.added.clear(), lowest.allowed.clear();
  lowest.makeBias();
  for (size_t i = 0; i < c.allowed.size(); ++i)
    lowest.added[i] = c.allowed[i] ? 0 : std::numeric_limits<float>::lowest();
  lowest.runKernels();
  EXPECT_EQ(lowest.out, c.out);
  EXPECT_EQ(lowest.dqkv, c.dqkv);
}

TEST(Attention, LowestFloatsThatAreAddedAbsorbTheScores) {
  for (bool isAdded : {false, true})
    expectSameByLowestFloats({.batch = 2,
                              .queries = 5,
                              .heads = 1,
                              .groups = 1,
                              .d = 3,
                              .causal = false,
                              .biasKind = AttentionBias::Allow,
                              .uniform = true,
                              .isAdded = isAdded});
}

/// Of more than 2^21 multiplications, so that sums are of floats, and products of bf16 where the level has them.
std::vector<Case> largerCases() {
  return {
      {.batch = 2, .queries = 300, .heads = 4, .groups = 2, .d = 33, .causal = true},
      {.batch = 1, .queries = 257, .heads = 3, .groups = 1, .d = 65, .causal = false},
      {.batch = 1, .queries = 300, .heads = 2, .groups = 2, .d = 130, .causal = true, .window = 70},
      {.batch = 2, .queries = 129, .heads = 4, .groups = 1, .d = 63, .causal = false, .window = 33},
      {.batch = 2,
       .queries = 150,
       .heads = 4,
       .groups = 2,
       .d = 31,
       .causal = true,
       .biasKind = AttentionBias::Allow,
       .uniform = true},
      {.batch = 2,
       .queries = 270,
       .heads = 4,
       .groups = 2,
       .d = 33,
       .causal = true,
       .biasKind = AttentionBias::Allow,
       .uniform = true,
       .isAdded = true},
      {.batch = 2, .queries = 190, .heads = 2, .groups = 1, .d = 64, .causal = false, .biasKind = AttentionBias::Add},
      {.batch = 2, .queries = 270, .heads = 4, .groups = 2, .d = 33, .causal = true, .ratio = (double)0.1F}};
}

void expectNaiveAt(CpuLevel level) {
  AtLevel at(level);
  for (Case c : largerCases())
    for (FloatType type : {FloatType::F32, FloatType::BF16, FloatType::F16}) {
      c.type = type;
      expectNaive(c);
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << nameOf(level);
    }
}

TEST(Attention, EqualsTheNaiveLoopsAtTheLevelOfThisMachine) { expectNaiveAt(levelsHere().back()); }
TEST(Attention, LargeOnesEqualTheNaiveLoopsAtLesserLevels) {
  std::vector<CpuLevel> levels = levelsHere();
  levels.pop_back();
  for (CpuLevel level : levels)
    expectNaiveAt(level);
}

/// What a case computes at a level.
Case runAt(CpuLevel level, Case c) {
  AtLevel at(level);
  c.run();
  return c;
}

TEST(Attention, OnlyLargerOnesOfBf16AreProductsOfBf16) {
  if (findHostLevel() < CpuLevel::V4Bf16)
    GTEST_SKIP() << "this processor has no products of bf16";
  Case small{.batch = 1, .queries = 100, .heads = 2, .groups = 2, .d = 64, .causal = true};
  for (FloatType type : {FloatType::F32, FloatType::BF16, FloatType::F16}) {
    Case larger = largerCases()[0];
    small.type = larger.type = type;
    Case smallWide = runAt(CpuLevel::V4, small), smallNarrow = runAt(CpuLevel::V4Bf16, small);
    EXPECT_EQ(smallWide.lse, smallNarrow.lse) << nameOf(type);
    EXPECT_EQ(smallWide.dqkv, smallNarrow.dqkv) << nameOf(type);
    Case wide = runAt(CpuLevel::V4, larger), narrow = runAt(CpuLevel::V4Bf16, larger);
    EXPECT_EQ(wide.lse == narrow.lse, type != FloatType::BF16) << nameOf(type);
    EXPECT_EQ(wide.dqkv == narrow.dqkv, type != FloatType::BF16) << nameOf(type);
  }
}

/// A key that is no number reaches the queries that see it, and no other.
TEST(Attention, WhatIsNoNumberIsPassedOn) {
  for (CpuLevel level : levelsHere())
    for (FloatType type : {FloatType::F32, FloatType::BF16, FloatType::F16}) {
      AtLevel at(level);
      Case c = largerCases()[0];
      c.type = type;
      c.run();
      constexpr int64_t key = 201; // of sample 0, group 0: its last element
      c.qkv[key * c.width() + c.heads * c.d + c.d - 1] = NAN;
      c.runKernels();
      for (int64_t i = 0; i < 2 * c.queries; ++i)
        for (int64_t head = 0; head < c.heads; ++head) {
          bool sees = i >= key && i < c.queries && head < c.heads / c.groups;
          const float *out = &c.out[(i * c.heads + head) * c.d];
          ASSERT_EQ(std::all_of(out, out + c.d, [](float x) { return std::isfinite(x); }), !sees)
              << nameOf(level) << " " << nameOf(type) << ": query " << i << ", head " << head;
        }
    }
}

} // namespace
