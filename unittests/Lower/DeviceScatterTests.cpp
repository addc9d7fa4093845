// Scatters as device code on simulated threads, against those of the CPU: equal bits, whatever the order of threads.
#include "Cpu/ScatterAdd.h"
#include "DeviceKernel.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

/// What the header's rows say of kernels.
struct Kernel {
  const char *name;
  bool wideIndex, perElement;
  FloatType result;
};
template <class Element> constexpr FloatType typeOf = FloatType::F32;
template <> constexpr FloatType typeOf<Bf16> = FloatType::BF16;
template <> constexpr FloatType typeOf<Half> = FloatType::F16;

#define XLC_ROWS(NAME, INDEX, ELEMENT) {#NAME, sizeof(INDEX) == 8, false, typeOf<ELEMENT>},
#define XLC_ELEMENTS(NAME, INDEX) {#NAME, sizeof(INDEX) == 8, true, FloatType::F32},
const std::vector<Kernel> kernels{XLC_SCATTER_ROWS(XLC_ROWS) XLC_SCATTER_ELEMENTS(XLC_ELEMENTS)};

struct Operands {
  std::vector<char> indices, y;
  std::vector<float> updates;
};

template <class Index> void drawIndices(std::vector<char> &to, int64_t rows, std::mt19937 &random) {
  for (size_t i = 0; i < to.size() / sizeof(Index); ++i) {
    Index index = random() % 3 ? random() % rows : rows / 2; // one of three is in the middle
    std::memcpy(&to[i * sizeof(Index)], &index, sizeof(Index));
  }
}

Operands drawOperands(const ScatterAddShape &s, unsigned seed) {
  std::mt19937 random(seed);
  Operands made;
  made.indices.resize(s.distinct * s.indices * (s.perElement ? s.width : 1) * (s.wideIndex ? 8 : 4));
  (s.wideIndex ? drawIndices<int64_t> : drawIndices<int32_t>)(made.indices, s.rows, random);
  made.y.resize(s.outer * s.rows * s.width * bytesOf(s.result));
  for (size_t i = 0; s.result == FloatType::F32 && i < made.y.size() / 4; ++i) {
    float before = (float)random() / 3e9F - 0.5F;
    std::memcpy(&made.y[i * 4], &before, 4);
  }
  for (int64_t i = 0; i < s.outer * s.indices * s.width; ++i)
    made.updates.push_back(((float)random() / 2e9F - 1) * (random() % 8 ? 1 : 70000)); // a half may overflow
  return made;
}

std::string launch(const Kernel &kernel, const ScatterAddShape &s, Operands &operands, bool add, uint64_t seed) {
  ScatterParameters p{s.outer, s.distinct, s.indices, s.rows, s.width, add};
  return launchDevice(kernel.name, s.perElement ? blocksForElements(p) : blocksForRows(p),
                      {operandOf(operands.indices), operandOf(operands.updates), operandOf(operands.y)}, &p, seed);
}

ScatterAddShape shapeFor(const Kernel &kernel, int64_t outer, int64_t distinct, int64_t indices, int64_t rows,
                         int64_t width) {
  return {outer, distinct, indices, rows, width, kernel.perElement, kernel.wideIndex, kernel.result};
}

void expectSame(const Kernel &kernel, const ScatterAddShape &s, bool add) {
  SCOPED_TRACE(std::string(kernel.name) + " outer " + std::to_string(s.outer) + " indices " +
               std::to_string(s.indices) + " rows " + std::to_string(s.rows) + " width " + std::to_string(s.width));
  Operands cpu = drawOperands(s, s.indices + s.rows), gpu = cpu;
  scatterAdd(s, cpu.indices.data(), cpu.updates.data(), cpu.y.data(), add, 0, s.outer * s.rows);
  ASSERT_EQ(launch(kernel, s, gpu, add, s.width), "");
  ASSERT_EQ(gpu.y, cpu.y);
}

/// Of lists that are no multiples of a warp, or of what it reads at a glance, and rows that are no multiples of a block.
TEST(DeviceScatter, HasTheBitsOfTheCpu) {
  for (const Kernel &kernel : kernels)
    for (int64_t indices : {1, 31, 33, 130, 300})
      for (auto [rows, width] : {std::pair<int64_t, int64_t>{1, 1}, {7, 33}, {20, 5}}) {
        expectSame(kernel, shapeFor(kernel, 1, 1, indices, rows, width), false);
        if (kernel.result == FloatType::F32)
          expectSame(kernel, shapeFor(kernel, 1, 1, indices, rows, width), true);
      }
}

TEST(DeviceScatter, HasListsOfIndicesForBlocks) {
  for (const Kernel &kernel : kernels)
    for (auto [outer, distinct] : {std::pair<int64_t, int64_t>{3, 1}, {6, 2}, {4, 4}})
      expectSame(kernel, shapeFor(kernel, outer, distinct, 40, 5, 9), false);
}

/// Rows that a warp takes in several turns.
TEST(DeviceScatter, HasWideRows) {
  for (const Kernel &kernel : kernels)
    for (int64_t width : {1024, 1025, 2100}) {
      expectSame(kernel, shapeFor(kernel, 1, 1, 12, 3, width), false);
      if (kernel.result == FloatType::F32)
        expectSame(kernel, shapeFor(kernel, 1, 1, 12, 3, width), true);
    }
}

/// Tables of which a block has more rows than warps, and lists of which a section is several warps wide.
TEST(DeviceScatter, HasManyRowsAndIndices) {
  const int64_t warps = kDeviceThreads / kDeviceWarp;
  ASSERT_GT((ScatterParameters{1, 1, 1, 8300, 1}.rowsOfBlock), warps);
  for (const Kernel &kernel : kernels) {
    expectSame(kernel, shapeFor(kernel, 1, 1, 60, 8300, 3), false);
    for (int64_t indices : {65536, 65537}) // all sections, of one warp and of two
      expectSame(kernel, shapeFor(kernel, 2, 2, indices, 5, 1), false);
    expectSame(kernel, shapeFor(kernel, 1, 1, 0, 5, 3), kernel.result == FloatType::F32);
  }
}

/// The CPU says which; a GPU can only stop.
TEST(DeviceScatter, TrapsForeignIndices) {
  for (const Kernel &kernel : kernels)
    for (int64_t foreign : {-1, 5}) {
      ScatterAddShape s = shapeFor(kernel, 1, 1, 3, 5, 2);
      Operands operands = drawOperands(s, 1);
      size_t bytes = kernel.wideIndex ? 8 : 4;
      std::memcpy(&operands.indices[operands.indices.size() - bytes], &foreign, bytes);
      EXPECT_NE(launch(kernel, s, operands, false, 0).find("is trapped"), std::string::npos) << kernel.name;
    }
}

} // namespace
