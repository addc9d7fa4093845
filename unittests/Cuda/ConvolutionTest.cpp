// Fused convolutions as they run, beside float64: on the simulated device, whose tensor cores round float32, or on a real one.
#include "Bench.h"
#include "Cuda/FusedConvolution.h"
#include "xlc/Runtime/Narrow.h"
#include "xlc/Runtime/Windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

using Kind = ConvolutionShape::Kind;

struct Case {
  const char *name;
  int64_t batch, groups, inputs, outputs;
  std::vector<WindowDim> dims;
};

/// x, w and y of a convolution, of which one is made of the others; as it is written on paper.
struct Paper {
  const ConvolutionShape s;
  const Windows windows{s.dims};
  std::vector<float> x = draw(s.batch * s.groups * s.inputs * windows.in, 1);
  std::vector<float> w = draw(s.groups * s.outputs * s.inputs * windows.size, 2);
  std::vector<float> y = draw(s.batch * s.groups * s.outputs * windows.out, 3);

  static std::vector<float> draw(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> made((size_t)count);
    for (float &number : made)
      number = normal(random);
    return made;
  }
  std::vector<float> &result() { return s.kind == Kind::Forward ? y : s.kind == Kind::Transpose ? x : w; }

  /// The result, and what its terms add up to without their signs.
  std::pair<std::vector<double>, std::vector<double>> compute() {
    std::vector<double> sums(result().size()), sizes(result().size());
    auto multiply = [&](int64_t atX, int64_t atW, int64_t atY) {
      double term = s.kind == Kind::Forward     ? (double)x[(size_t)atX] * w[(size_t)atW]
                    : s.kind == Kind::Transpose ? (double)y[(size_t)atY] * w[(size_t)atW]
                                                : (double)x[(size_t)atX] * y[(size_t)atY];
      auto at = (size_t)(s.kind == Kind::Forward ? atY : s.kind == Kind::Transpose ? atX : atW);
      sums[at] += term, sizes[at] += std::abs(term);
    };
    for (int64_t image = 0; image < s.batch * s.groups; ++image)
      for (int64_t f = 0; f < s.outputs; ++f)
        for (int64_t c = 0; c < s.inputs; ++c)
          forEachPair([&](int64_t i, int64_t k, int64_t o) {
            multiply((image * s.inputs + c) * windows.in + i,
                     ((image % s.groups * s.outputs + f) * s.inputs + c) * windows.size + k,
                     (image * s.outputs + f) * windows.out + o);
          });
    return {sums, sizes};
  }
  /// An element of a plane, a place in the window, and the output that meet.
  template <class Body> void forEachPair(Body body) const {
    const auto &[d0, d1, d2] = windows.dims;
    for (int64_t o = 0; o < windows.out; ++o)
      for (int64_t k = 0; k < windows.size; ++k) {
        int64_t i0 = findInput(d0, o / d2.out / d1.out, k / d2.size / d1.size);
        int64_t i1 = findInput(d1, o / d2.out % d1.out, k / d2.size % d1.size);
        int64_t i2 = findInput(d2, o % d2.out, k % d2.size);
        if (i0 >= 0 && i1 >= 0 && i2 >= 0)
          body((i0 * d1.in + i1) * d2.in + i2, k, o);
      }
  }
};

class Convolution : public testing::TestWithParam<Case> {};

Paper makePaper(const Case &c, Kind kind) { return Paper{{kind, c.batch, c.groups, c.inputs, c.outputs, c.dims}}; }

TEST_P(Convolution, IsFloat64Rounded) {
  const Case &c = GetParam();
  Bench bench;
  constexpr int64_t bytes = 1 << 20;
  char *workspace = bench.place(bytes);
  for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward})
    for (bool adds : {false, true}) {
      SCOPED_TRACE(std::to_string((int)kind) + (adds ? ", added" : ""));
      Paper paper = makePaper(c, kind);
      char *x = bench.write(paper.x), *w = bench.write(paper.w), *y = bench.write(paper.y);
      char *at = kind == Kind::Forward ? y : kind == Kind::Transpose ? x : w;
      auto made = cudnn::FusedConvolution::tryMake(bench.library, bench.device(), c.name, paper.s, adds, bytes);
      ASSERT_NE(made, nullptr);
      made->run(x, w, y, workspace, bench.queue());
      std::vector<float> before = paper.result(), found = bench.read<float>(at, before.size() * sizeof(float));
      auto [expected, sizes] = paper.compute();
      for (size_t i = 0; i < found.size(); ++i) {
        double wanted = expected[i] + (adds ? before[i] : 0), most = sizes[i] + std::abs(before[i]);
        ASSERT_LE(std::abs(found[i] - wanted), 4e-6 * most) << "element " << i;
      }
    }
}

/// Elements as T: they are multiplied as they are, and each sum is rounded once.
template <class T> void expectRoundedOnce(const Case &c, FloatType type, double epsilon) {
  Bench bench;
  constexpr int64_t bytes = 1 << 20;
  char *workspace = bench.place(bytes);
  for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward}) {
    SCOPED_TRACE("kind " + std::to_string((int)kind) + ", type " + std::to_string((int)type));
    Paper paper = makePaper(c, kind);
    auto narrow = [](std::vector<float> &wide) {
      std::vector<T> made(wide.begin(), wide.end());
      wide.assign(made.begin(), made.end());
      return made;
    };
    char *x = bench.write(narrow(paper.x)), *w = bench.write(narrow(paper.w)), *y = bench.write(narrow(paper.y));
    char *at = kind == Kind::Forward ? y : kind == Kind::Transpose ? x : w;
    ConvolutionShape shape = paper.s;
    shape.type = type;
    auto made = cudnn::FusedConvolution::tryMake(bench.library, bench.device(), c.name, shape, false, bytes);
    ASSERT_NE(made, nullptr);
    made->run(x, w, y, workspace, bench.queue());
    std::vector<T> found = bench.read<T>(at, paper.result().size() * sizeof(T));
    auto [expected, sizes] = paper.compute();
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_LE(std::abs((double)(float)found[i] - expected[i]), epsilon * std::abs(expected[i]) + 4e-6 * sizes[i])
          << "element " << i;
  }
}

TEST_P(Convolution, OfSixteenBitsIsFloat64RoundedOnce) {
  expectRoundedOnce<Bf16>(GetParam(), FloatType::BF16, 0x1p-8);
  expectRoundedOnce<Half>(GetParam(), FloatType::F16, 0x1p-11);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Convolution,
    testing::Values(Case{"Stem", 2, 1, 3, 8, {{15, 8, 7, 2, 1, 3}, {15, 8, 7, 2, 1, 3}}},
                    Case{"Plane", 2, 1, 4, 6, {{5, 5, 1, 1, 1, 0}, {7, 7, 1, 1, 1, 0}}},
                    Case{"Depthwise", 2, 6, 1, 1, {{9, 9, 3, 1, 1, 1}, {8, 8, 3, 1, 1, 1}}},
                    Case{"Groups", 1, 2, 4, 3, {{8, 4, 3, 2, 1, 0}, {8, 4, 3, 2, 1, 0}}}, // a pad behind alone
                    Case{"Dilated", 1, 1, 3, 4, {{9, 9, 3, 1, 2, 2}, {9, 5, 3, 2, 2, 2}}},
                    Case{"NotReached", 1, 1, 2, 2, {{8, 3, 2, 3, 1, 0}, {10, 3, 2, 3, 1, 0}}},
                    Case{"OneDimension", 2, 1, 4, 4, {{30, 28, 3, 1, 1, 0}}}),
    [](const auto &info) { return std::string(info.param.name); });

/// Ranks may be threads of one process.
TEST(Convolution, IsMadeByThreads) {
  ConvolutionShape s{Kind::Forward, 1, 1, 2, 2, {{4, 4, 3, 1, 1, 1}, {4, 4, 3, 1, 1, 1}}};
  std::vector<std::jthread> threads(8);
  for (std::jthread &thread : threads)
    thread = std::jthread([&] {
      Bench bench;
      for (int i = 0; i < 2000; ++i)
        EXPECT_NE(cudnn::FusedConvolution::tryMake(bench.library, bench.device(), "one of many", s, false, 1 << 20),
                  nullptr);
    });
}

TEST(Convolution, IsNotFusedInThreeDimensions) {
  Bench bench;
  ConvolutionShape s{Kind::Forward, 1, 1, 2, 2, {{4, 4, 3, 1, 1, 1}, {4, 4, 3, 1, 1, 1}, {4, 4, 3, 1, 1, 1}}};
  EXPECT_EQ(cudnn::FusedConvolution::tryMake(bench.library, bench.device(), "volume", s, false, 1 << 20), nullptr);
}

} // namespace
