// Pools and convolutions as device code on simulated threads, against those of the CPU. Numbers of convolutions are small
// integers, so that every sum is exact, in whatever order: bits are equal.
#include "Cpu/Convolution.h"
#include "Cpu/MaxPool.h"
#include "Cuda/ConvolutionSteps.h"
#include "DeviceKernel.h"
#include "xlc/Runtime/Narrow.h"
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
  template <class Element>
  SteppedConvolution(const ConvolutionShape &shape, std::vector<Element> &x, std::vector<Element> &w,
                     std::vector<Element> &y)
      : type(shape.type), workspace(ConvolutionWorkspace<int64_t>(shape).bytes / sizeof(float), NAN),
        memory{(char *)x.data(), (char *)w.data(), (char *)y.data(), (char *)workspace.data()} {}

  std::string run(const ConvolutionSteps &all) {
    for (const ConvolutionStep &step : all.steps)
      if (step.kind == ConvolutionStep::Kind::Product)
        multiply(all.product, step);
      else if (std::string problem = launch(all.columns, step); !problem.empty())
        return problem;
    return "";
  }

private:
  char *at(const ConvolutionPlace &place) const { return memory[(size_t)place.operand] + place.offset; }

  void multiply(const ContractShape &p, const ConvolutionStep &step) {
    const auto *a = (const float *)at(step.a), *b = (const float *)at(step.b);
    auto *y = (float *)at(step.result);
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        float &result = y[m * p.yM + n * p.yN], sum = step.adds ? result : 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a[m * p.aM + k * p.aK] * b[k * p.bK + n * p.bN];
        result = sum;
      }
  }

  /// Sees what is the step's (the image, its matrix, what it converts), and not one byte more.
  std::string launch(ColumnsParameters p, const ConvolutionStep &step) {
    auto ofX = uint64_t(p.channels * p.windows.in), ofColumns = uint64_t(p.channels * p.windows.size * p.windows.out);
    auto operand = [&](const ConvolutionPlace &place, uint64_t count, FloatType of) {
      return simulate::Operand{at(place), count * (uint64_t)bytesOf(of)};
    };
    p.adds = step.adds;
    ConvertParameters converted{step.count};
    std::string narrow = type == FloatType::BF16 ? "bf16" : "f16";
    switch (step.kind) {
    case ConvolutionStep::Kind::Columns:
      return launchDevice("xlc_columns", blocksForColumns(p),
                          {operand(step.a, ofX, FloatType::F32), operand(step.result, ofColumns, FloatType::F32)}, &p,
                          1);
    case ConvolutionStep::Kind::FromColumns:
      return launchDevice("xlc_from_columns", blocksFromColumns(p),
                          {operand(step.a, ofColumns, FloatType::F32), operand(step.result, ofX, FloatType::F32)}, &p,
                          1);
    case ConvolutionStep::Kind::Widen:
      return launchDevice("xlc_convert_" + narrow + "_f32", blocksToConvert(converted),
                          {operand(step.a, step.count, type), operand(step.result, step.count, FloatType::F32)},
                          &converted, 1);
    default:
      return launchDevice("xlc_convert_f32_" + narrow, blocksToConvert(converted),
                          {operand(step.a, step.count, FloatType::F32), operand(step.result, step.count, type)},
                          &converted, 1);
    }
  }

  const FloatType type;
  std::vector<float> workspace;
  std::array<char *, 4> memory;
};

/// x, w and y as floats; what the CPU makes of them.
struct CpuConvolution {
  const ConvolutionShape s;
  const Windows windows{s.dims};
  std::vector<float> x = drawIntegers(s.batch * s.groups * s.inputs * windows.in, 1);
  std::vector<float> w = drawIntegers(s.groups * s.outputs * s.inputs * windows.size, 2);
  std::vector<float> y = drawIntegers(s.batch * s.groups * s.outputs * windows.out, 3);

  void run(bool add) {
    std::vector<char> scratch(convolutionScratch(s) + 64);
    auto *aligned = (char *)(((uintptr_t)scratch.data() + 63) / 64 * 64);
    for (int64_t item = 0; item < convolutionItems(s); ++item)
      runConvolution(s, {x.data(), w.data(), y.data()}, item, add, aligned);
  }
};

void expectSame(const ConvolutionShape &s, bool add) {
  CpuConvolution cpu{s};
  std::vector<float> x = cpu.x, w = cpu.w, y = cpu.y;
  cpu.run(add);
  ASSERT_EQ(SteppedConvolution(s, x, w, y).run(makeConvolutionSteps(s, add)), "");
  EXPECT_EQ(x, cpu.x);
  EXPECT_EQ(w, cpu.w);
  EXPECT_EQ(y, cpu.y);
}

std::vector<uint16_t> narrow(const std::vector<float> &wide, FloatType type) {
  std::vector<uint16_t> made;
  for (float number : wide)
    made.push_back(type == FloatType::BF16 ? toBf16(number) : toHalf(number));
  return made;
}

/// Small integers are the same in sixteen bits; their sums are rounded once.
void expectRounded(ConvolutionShape s, FloatType type) {
  CpuConvolution cpu{s};
  std::vector<uint16_t> x = narrow(cpu.x, type), w = narrow(cpu.w, type), y = narrow(cpu.y, type);
  cpu.run(false);
  s.type = type;
  ASSERT_EQ(SteppedConvolution(s, x, w, y).run(makeConvolutionSteps(s, false)), "");
  EXPECT_EQ(x, narrow(cpu.x, type));
  EXPECT_EQ(w, narrow(cpu.w, type));
  EXPECT_EQ(y, narrow(cpu.y, type));
}

template <class Body> void forEachConvolution(Body body) {
  using Kind = ConvolutionShape::Kind;
  for (const std::vector<WindowDim> &dims : windows)
    for (Kind kind : {Kind::Forward, Kind::Transpose, Kind::WeightBackward})
      for (auto [groups, inputs, outputs] : {std::array<int64_t, 3>{1, 3, 4}, {2, 2, 3}, {3, 1, 1}}) {
        SCOPED_TRACE("kind " + std::to_string((int)kind) + " groups " + std::to_string(groups) + " dims " +
                     std::to_string(dims.size()) + " window " + std::to_string(Windows(dims).size));
        body(ConvolutionShape{kind, 2, groups, inputs, outputs, dims});
      }
}

TEST(DeviceConvolution, IsTheConvolutionOfTheCpu) {
  forEachConvolution([](const ConvolutionShape &s) {
    expectSame(s, false);
    expectSame(s, true);
  });
}

TEST(DeviceConvolution, OfSixteenBitsIsRoundedOnce) {
  forEachConvolution([](const ConvolutionShape &s) {
    expectRounded(s, FloatType::BF16);
    expectRounded(s, FloatType::F16);
  });
}

} // namespace
