// Pools and convolutions as device code on simulated threads, against those of the CPU. Numbers of convolutions are small
// integers, so that every sum is exact, in whatever order: bits are equal.
#include "Cpu/Convolution.h"
#include "Cpu/MaxPool.h"
#include "Cuda/ConvolutionSteps.h"
#include "DeviceKernel.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace xlc;
using namespace xlc::runtime;
using namespace xlc::test;

namespace {

std::vector<float> drawIntegers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> drawn(count);
  for (float &value : drawn)
    value = (float)(random() % 7) - 3;
  return drawn;
}

int64_t outputsOf(int64_t in, int64_t size, int64_t stride, int64_t dilation, int64_t pad) {
  return (in + 2 * pad - (size - 1) * dilation - 1) / stride + 1;
}

WindowDim makeDim(int64_t in, int64_t size, int64_t stride, int64_t dilation, int64_t pad) {
  return {in, outputsOf(in, size, stride, dilation, pad), size, stride, dilation, pad};
}

/// Of one to three dimensions, with strides, dilations, pads, and planes shown as they lie.
const std::vector<std::vector<WindowDim>> windows{
    {makeDim(9, 3, 1, 1, 1)},
    {makeDim(40, 4, 3, 2, 2)},
    {makeDim(7, 1, 1, 1, 0), makeDim(5, 1, 1, 1, 0)},
    {makeDim(7, 1, 2, 1, 0), makeDim(5, 1, 2, 1, 0)},
    {makeDim(6, 3, 2, 1, 1), makeDim(8, 3, 2, 1, 1)},
    {makeDim(8, 2, 1, 2, 1), makeDim(5, 3, 1, 1, 0)},
    {makeDim(4, 2, 2, 1, 0), makeDim(5, 3, 1, 1, 1), makeDim(3, 2, 1, 1, 1)},
};

bool haveSameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Many elements are equal, some are NaN.
TEST(DeviceMaxPool, HasTheBitsOfTheCpu) {
  constexpr int64_t planes = 3;
  for (const std::vector<WindowDim> &dims : windows)
    for (bool add : {false, true}) {
      Windows w(dims);
      std::vector<float> x = drawIntegers(planes * w.in, 1), dy = drawIntegers(planes * w.out, 2);
      x[x.size() / 2] = x[x.size() / 2 + 1] = NAN;
      for (float &value : dy)
        value /= 7;
      std::vector<float> y(planes * w.out, 0.1F), dx(planes * w.in, 0.1F), gpuY = y, gpuDx = dx;
      maxPool({false, planes, dims}, x.data(), y.data(), add, 0, planes);
      maxPoolBackward({true, planes, dims}, x.data(), dy.data(), dx.data(), add, 0, planes);
      MaxPoolParameters p{planes, w, add};
      ASSERT_EQ(launchDevice("xlc_max_pool", blocksForPool(p), {operandOf(x), operandOf(gpuY)}, &p, 1), "");
      ASSERT_EQ(launchDevice("xlc_max_pool_backward", blocksForPoolBackward(p),
                             {operandOf(x), operandOf(dy), operandOf(gpuDx)}, &p, 2),
                "");
      EXPECT_TRUE(haveSameBits(gpuY, y)) << dims.size() << " dims, add " << add;
      EXPECT_TRUE(haveSameBits(gpuDx, dx)) << dims.size() << " dims, add " << add;
    }
}

/// A call's memory: x, w, y and the workspace, in the order of ConvolutionPlace.
class SteppedConvolution {
public:
  SteppedConvolution(const ConvolutionShape &shape, std::vector<float> &x, std::vector<float> &w, std::vector<float> &y)
      : columns(convolutionColumnBytes(shape) / sizeof(float), NAN), memory{&x, &w, &y, &columns} {}

  std::string run(const ConvolutionSteps &all) {
    for (const ConvolutionStep &step : all.steps)
      if (step.kind == ConvolutionStep::Kind::Product)
        multiply(all.product, step);
      else if (std::string problem = launch(all.columns, step); !problem.empty())
        return problem;
    return "";
  }

private:
  float *at(const ConvolutionPlace &place) const {
    return memory[(size_t)place.operand]->data() + place.offset / sizeof(float);
  }

  void multiply(const ContractShape &p, const ConvolutionStep &step) {
    const float *a = at(step.a), *b = at(step.b);
    float *y = at(step.result);
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        float &result = y[m * p.yM + n * p.yN], sum = step.adds ? result : 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a[m * p.aM + k * p.aK] * b[k * p.bK + n * p.bN];
        result = sum;
      }
  }

  /// Sees the image and the matrix that are the step's, and not one byte more.
  std::string launch(ColumnsParameters p, const ConvolutionStep &step) {
    bool isTo = step.kind == ConvolutionStep::Kind::Columns;
    auto bytesOfX = uint64_t(p.channels * p.windows.in * (int64_t)sizeof(float));
    uint64_t bytesOfColumns = columns.size() * sizeof(float);
    simulate::Operand from{(const char *)at(step.a), isTo ? bytesOfX : bytesOfColumns};
    simulate::Operand to{(const char *)at(step.result), isTo ? bytesOfColumns : bytesOfX};
    p.adds = step.adds;
    return isTo ? launchDevice("xlc_columns", blocksForColumns(p), {from, to}, &p, 1)
                : launchDevice("xlc_from_columns", blocksFromColumns(p), {from, to}, &p, 1);
  }

  std::vector<float> columns;
  std::array<std::vector<float> *, 4> memory;
};

void expectSame(const ConvolutionShape &s, bool add) {
  Windows windows(s.dims);
  std::vector<float> x = drawIntegers(s.batch * s.groups * s.inputs * windows.in, 1),
                     w = drawIntegers(s.groups * s.outputs * s.inputs * windows.size, 2),
                     y = drawIntegers(s.batch * s.groups * s.outputs * windows.out, 3), cpuX = x, cpuW = w, cpuY = y;
  std::vector<char> scratch(convolutionScratch(s) + 64);
  auto *aligned = (char *)(((uintptr_t)scratch.data() + 63) / 64 * 64);
  for (int64_t item = 0; item < convolutionItems(s); ++item)
    runConvolution(s, {cpuX.data(), cpuW.data(), cpuY.data()}, item, add, aligned);
  ASSERT_EQ(SteppedConvolution(s, x, w, y).run(makeConvolutionSteps(s, add)), "");
  EXPECT_EQ(x, cpuX);
  EXPECT_EQ(w, cpuW);
  EXPECT_EQ(y, cpuY);
}

TEST(DeviceConvolution, IsTheConvolutionOfTheCpu) {
  for (const std::vector<WindowDim> &dims : windows)
    for (auto kind :
         {ConvolutionShape::Kind::Forward, ConvolutionShape::Kind::Transpose, ConvolutionShape::Kind::WeightBackward})
      for (auto [groups, inputs, outputs] : {std::array<int64_t, 3>{1, 3, 4}, {2, 2, 3}, {3, 1, 1}})
        for (bool add : {false, true}) {
          SCOPED_TRACE("kind " + std::to_string((int)kind) + " groups " + std::to_string(groups) + " dims " +
                       std::to_string(dims.size()) + " window " + std::to_string(Windows(dims).size));
          expectSame({kind, 2, groups, inputs, outputs, dims}, add);
        }
}

} // namespace
