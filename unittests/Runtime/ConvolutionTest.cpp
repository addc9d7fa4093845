// Convolutions and pools against plain nested loops, over windows of every form: strides, dilations, pads that reach
// over one or both edges, groups, one feature per group, one element per window, one to three spatial dimensions.
#include "Cpu/Convolution.h"
#include "Cpu/MaxPool.h"
#include "RandomFloats.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace xlc::runtime;
using xlc::test::randomFloats;

namespace {

using Kind = ConvolutionShape::Kind;

struct Sizes {
  int64_t in = 1, out = 1, window = 1;
  explicit Sizes(const std::vector<WindowDim> &dims) {
    for (const WindowDim &dim : dims)
      in *= dim.in, out *= dim.out, window *= dim.size;
  }
};

/// The element under place k of window o, or -1: from the definition.
int64_t findElement(const std::vector<WindowDim> &dims, int64_t o, int64_t k) {
  int64_t element = 0, step = 1;
  for (size_t d = dims.size(); d-- > 0; o /= dims[d].out, k /= dims[d].size, step *= dims[d].in) {
    int64_t i = o % dims[d].out * dims[d].stride + k % dims[d].size * dims[d].dilation - dims[d].pad;
    if (i < 0 || i >= dims[d].in)
      return -1;
    element += i * step;
  }
  return element;
}

/// What the definition gives, in double; x, w and y stand for themselves or for their gradients.
std::vector<double> convolve(const ConvolutionShape &s, const std::vector<float> &x, const std::vector<float> &w,
                             const std::vector<float> &y, std::vector<double> sums) {
  Sizes sizes(s.dims);
  for (int64_t image = 0; image < s.batch * s.groups; ++image)
    for (int64_t f = 0; f < s.outputs; ++f)
      for (int64_t c = 0; c < s.inputs; ++c)
        for (int64_t k = 0; k < sizes.window; ++k)
          for (int64_t o = 0; o < sizes.out; ++o) {
            int64_t element = findElement(s.dims, o, k);
            if (element < 0)
              continue;
            int64_t ix = (image * s.inputs + c) * sizes.in + element;
            int64_t iw = ((image % s.groups * s.outputs + f) * s.inputs + c) * sizes.window + k;
            int64_t iy = (image * s.outputs + f) * sizes.out + o;
            if (s.kind == Kind::Forward)
              sums[iy] += (double)x[ix] * w[iw];
            else if (s.kind == Kind::Transpose)
              sums[ix] += (double)y[iy] * w[iw];
            else
              sums[iw] += (double)x[ix] * y[iy];
          }
  return sums;
}

/// Runs all items, the last one first, and returns the largest error relative to the root of the number of terms.
double findError(const ConvolutionShape &s, bool add) {
  Sizes sizes(s.dims);
  auto x = randomFloats(s.batch * s.groups * s.inputs * sizes.in, 1);
  auto w = randomFloats(s.groups * s.outputs * s.inputs * sizes.window, 2);
  auto y = randomFloats(s.batch * s.groups * s.outputs * sizes.out, 3);
  std::vector<float> &result = s.kind == Kind::Forward ? y : s.kind == Kind::Transpose ? x : w;
  std::vector<double> before(result.size(), 0);
  if (add)
    before.assign(result.begin(), result.end());
  std::vector<double> expected = convolve(s, x, w, y, before);
  std::vector<char> memory(convolutionScratch(s) + 64);
  char *scratch = (char *)(((uintptr_t)memory.data() + 63) / 64 * 64);
  EXPECT_LE(convolutionScratch(s), convolutionWorkspace(s, 1));
  for (int64_t item = convolutionItems(s); item-- > 0;)
    runConvolution(s, {x.data(), w.data(), y.data()}, item, add, scratch);
  int64_t terms = s.kind == Kind::WeightBackward ? s.batch * sizes.out : s.inputs * s.outputs * sizes.window;
  double worst = 0;
  for (size_t i = 0; i < result.size(); ++i)
    worst = std::max(worst, std::abs(result[i] - expected[i]) / std::sqrt((double)terms));
  return worst;
}

void expectRight(ConvolutionShape s) {
  for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward})
    for (bool add : {false, true}) {
      s.kind = kind;
      EXPECT_LT(findError(s, add), 2e-6) << "kind " << (int)kind << " add " << add << " inputs " << s.inputs
                                         << " outputs " << s.outputs << " window " << s.dims.back().size;
    }
}

int64_t outputsOf(int64_t in, int64_t size, int64_t stride, int64_t dilation, int64_t low, int64_t high) {
  return (in + low + high - (size - 1) * dilation - 1) / stride + 1;
}

TEST(Convolution, EqualsTheDefinitionForEveryWindow) {
  for (int64_t size : {1, 2, 3})
    for (int64_t stride : {1, 2, 3})
      for (int64_t dilation : {1, 2})
        for (int64_t pad : {-1, 0, 1, 4})
          for (auto [groups, inputs, outputs] : {std::array<int64_t, 3>{1, 3, 4}, {2, 2, 1}, {3, 1, 1}, {1, 1, 5}}) {
            WindowDim row{7, outputsOf(7, size, stride, dilation, pad, 1), size, stride, dilation, pad};
            WindowDim column{9, outputsOf(9, 2, 1, dilation, 1, pad), 2, 1, dilation, 1};
            if (row.out < 1 || column.out < 1)
              continue;
            expectRight({Kind::Forward, 2, groups, inputs, outputs, {row, column}});
          }
}

TEST(Convolution, EqualsTheDefinitionInOneAndThreeDimensions) {
  expectRight({Kind::Forward, 3, 1, 5, 6, {{40, 38, 3, 1, 1, 0}}});
  expectRight({Kind::Forward, 1, 1, 1, 1, {{1, 1, 1, 1, 1, 0}}});
  expectRight({Kind::Forward, 2, 2, 3, 2, {{5, 3, 3, 2, 1, 1}, {4, 4, 3, 1, 1, 1}, {6, 3, 2, 2, 1, 0}}});
}

TEST(Convolution, EqualsTheDefinitionOverSeveralTilesAndChunks) {
  expectRight({Kind::Forward, 1, 1, 40, 17, {{24, 24, 3, 1, 1, 1}, {25, 25, 3, 1, 1, 1}}});  // chunks of 32 channels
  expectRight({Kind::Forward, 1, 1, 300, 20, {{25, 25, 1, 1, 1, 0}, {25, 25, 1, 1, 1, 0}}}); // x as it lies
  expectRight({Kind::Forward, 2, 4, 1, 1, {{60, 30, 3, 2, 1, 1}, {60, 30, 3, 2, 1, 1}}});    // depthwise
  expectRight({Kind::Forward, 2, 1, 200, 1, {{30, 30, 1, 1, 1, 0}}}); // one feature, too many terms to be direct
}

TEST(MaxPool, TakesTheFirstLargestElementOfEachWindow) {
  for (int64_t pad : {0, 1})
    for (int64_t stride : {1, 2}) {
      std::vector<WindowDim> dims{{5, outputsOf(5, 3, stride, 1, pad, pad), 3, stride, 1, pad},
                                  {6, outputsOf(6, 2, stride, 2, pad, 0), 2, stride, 2, pad}};
      Sizes sizes(dims);
      auto x = randomFloats(3 * sizes.in, 1), dy = randomFloats(3 * sizes.out, 2);
      for (float &value : x)
        value = std::round(value * 2); // many equal ones
      std::vector<float> y(3 * sizes.out, 7), dx(3 * sizes.in, 7), wantedY(y.size()), wantedDx(dx.size());
      for (int64_t o = 0; o < 3 * sizes.out; ++o) {
        int64_t plane = o / sizes.out * sizes.in, best = -1;
        for (int64_t k = 0; k < sizes.window; ++k)
          if (int64_t at = findElement(dims, o % sizes.out, k);
              at >= 0 && (best < 0 || x[plane + at] > x[plane + best]))
            best = at;
        wantedY[o] = x[plane + best];
        wantedDx[plane + best] += dy[o];
      }
      MaxPoolShape shape{false, 3, dims};
      maxPool(shape, x.data(), y.data(), false, 2, 3);
      maxPool(shape, x.data(), y.data(), false, 0, 2);
      maxPoolBackward(shape, x.data(), dy.data(), dx.data(), false, 0, 3);
      EXPECT_EQ(y, wantedY);
      EXPECT_EQ(dx, wantedDx);
      maxPool(shape, x.data(), y.data(), true, 0, 3);
      for (float &value : wantedY)
        value *= 2;
      EXPECT_EQ(y, wantedY);
    }
}

TEST(MaxPool, KeepsNaN) {
  std::vector<float> x{1, NAN, 3}, y(1), dx(3), dy{5};
  std::vector<WindowDim> dims{{3, 1, 3, 1, 1, 0}};
  maxPool({false, 1, dims}, x.data(), y.data(), false, 0, 1);
  maxPoolBackward({true, 1, dims}, x.data(), dy.data(), dx.data(), false, 0, 1);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(dx, (std::vector<float>{0, 5, 0}));
}

} // namespace
