// Scatters into a base as device code on simulated threads, against those of the CPU: equal bits, whatever the order of threads.
#include "Cpu/ScatterInto.h"
#include "DeviceKernel.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

using Type = ScatterIntoShape::Element;
/// What the header's rows say of kernels.
struct Kernel {
  const char *name;
  bool wideIndex;
  Type element;
};
template <class Element> constexpr Type typeOf = Type::F32;
template <> constexpr Type typeOf<int32_t> = Type::I32;
template <> constexpr Type typeOf<int64_t> = Type::I64;

#define XLC_INTO(NAME, INDEX, ELEMENT) {#NAME, sizeof(INDEX) == 8, typeOf<ELEMENT>},
const std::vector<Kernel> kernels{XLC_SCATTER_INTO(XLC_INTO)};

struct Operands {
  std::vector<char> base, indices, updates, y;
};

template <class T> void put(std::vector<char> &to, T value) {
  to.insert(to.end(), (const char *)&value, (const char *)(&value + 1));
}

void putElement(std::vector<char> &to, Type type, int64_t value) {
  if (type == Type::F32)
    put(to, (float)value / 8);
  else if (type == Type::I32)
    put(to, (int32_t)value);
  else
    put(to, value << 40);
}

Operands drawOperands(const ScatterIntoShape &s) {
  std::mt19937 random(s.indices + s.rows);
  auto draw = [&] { return (int64_t)(random() % 41) - 20; }; // many are equal
  Operands made;
  for (int64_t i = 0; i < s.outer * s.rows * s.width; ++i)
    putElement(made.base, s.element, draw());
  for (int64_t i = 0; i < s.outer * s.indices * s.width; ++i)
    putElement(made.updates, s.element, draw());
  for (int64_t i = 0; i < s.distinct * s.indices * (s.perElement ? s.width : 1); ++i) {
    auto row = (int64_t)(random() % s.rows);
    s.wideIndex ? put(made.indices, row) : put(made.indices, (int32_t)row);
  }
  made.y.resize(made.base.size());
  return made;
}

std::string launch(const Kernel &kernel, const ScatterIntoShape &s, Operands &operands, uint64_t seed) {
  ScatterIntoParameters p{s.outer, s.distinct, s.indices, s.rows, s.width, s.perElement, s.kind};
  return launchDevice(
      kernel.name, blocksForScatterInto(p),
      {operandOf(operands.base), operandOf(operands.indices), operandOf(operands.updates), operandOf(operands.y)}, &p,
      seed);
}

TEST(DeviceScatterInto, HasTheBitsOfTheCpu) {
  for (const Kernel &kernel : kernels)
    for (ScatterKind kind : {ScatterKind::Last, ScatterKind::Max, ScatterKind::Min})
      for (bool perElement : {false, true})
        for (auto [outer, distinct, indices, rows, width] :
             {std::array<int64_t, 5>{1, 1, 1, 1, 1}, {1, 1, 33, 7, 33}, {6, 2, 40, 5, 9}, {3, 1, 20, 90, 1}}) {
          ScatterIntoShape s{kind, outer, distinct, indices, rows, width, perElement, kernel.wideIndex, kernel.element};
          Operands cpu = drawOperands(s), gpu = cpu;
          scatterInto(s, cpu.base.data(), cpu.indices.data(), cpu.updates.data(), cpu.y.data(), 0, outer * rows);
          ASSERT_EQ(launch(kernel, s, gpu, width), "");
          ASSERT_EQ(gpu.y, cpu.y) << kernel.name << " of kind " << (int)kind << ", " << rows << " rows";
        }
}

/// The CPU says which; a GPU can only stop.
TEST(DeviceScatterInto, TrapsForeignIndices) {
  for (const Kernel &kernel : kernels)
    for (int64_t foreign : {-1, 5}) {
      ScatterIntoShape s{ScatterKind::Last, 1, 1, 3, 5, 2, true, kernel.wideIndex, kernel.element};
      Operands operands = drawOperands(s);
      size_t bytes = kernel.wideIndex ? 8 : 4;
      std::memcpy(&operands.indices[operands.indices.size() - bytes], &foreign, bytes);
      EXPECT_NE(launch(kernel, s, operands, 0).find("is trapped"), std::string::npos) << kernel.name;
    }
}

} // namespace
