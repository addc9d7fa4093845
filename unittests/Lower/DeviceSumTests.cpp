// Sums over ranks and elements in other types as device code on simulated threads, against those of the CPU: equal bits.
#include "Cpu/ElementOperations.h"
#include "DeviceKernel.h"
#include "Plan/Elements.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace xlc;
using namespace xlc::runtime;
using namespace xlc::test;
using plan::Element;

namespace {

template <class> constexpr Element elementOf = Element::F32;
template <> constexpr Element elementOf<double> = Element::F64;
template <> constexpr Element elementOf<int64_t> = Element::I64;
template <> constexpr Element elementOf<int32_t> = Element::I32;
template <> constexpr Element elementOf<Bf16> = Element::BF16;
template <> constexpr Element elementOf<Half> = Element::F16;

/// What the header's rows say of kernels.
struct Combining {
  const char *name;
  Combine how;
  Element element, wire;
};
struct Converting {
  const char *name;
  Element from, to;
};
#define XLC_ROW(NAME, HOW, ELEMENT, WIRE) {#NAME, Combine::HOW, elementOf<ELEMENT>, elementOf<WIRE>},
const std::vector<Combining> combinings{XLC_COMBINES(XLC_ROW)};
#undef XLC_ROW
#define XLC_ROW(NAME, FROM, TO) {#NAME, elementOf<FROM>, elementOf<TO>},
const std::vector<Converting> convertings{XLC_CONVERTS(XLC_ROW)};
#undef XLC_ROW

/// Any bits: among them what is no number, infinities and subnormal numbers; and some small whole numbers, which add up.
std::vector<char> draw(Element element, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<char> made(count * bytesOf(element));
  for (char &byte : made)
    byte = (char)random();
  for (int64_t i = 0; i < count; i += 2) {
    float whole = (float)(random() % 64) - 32;
    std::vector<char> small =
        convert(Element::F32, &whole, 1, element == Element::I32 || element == Element::I64 ? Element::F32 : element);
    std::memcpy(&made[i * bytesOf(element)], small.data(), std::min<size_t>(small.size(), bytesOf(element)));
  }
  return made;
}

double valueOf(Element element, const char *at) {
  double value = 0;
  if (element != Element::I32 && element != Element::I64)
    std::memcpy(&value, convert(element, at, 1, Element::F64).data(), sizeof value);
  return value;
}

/// What is no number is so in both, whatever its bits: which of two a processor keeps is its own affair.
void expectSame(Element element, const std::vector<char> &found, const std::vector<char> &wanted) {
  uint64_t size = bytesOf(element);
  for (size_t i = 0; i < wanted.size(); i += size) {
    bool areNone = std::isnan(valueOf(element, &found[i])) && std::isnan(valueOf(element, &wanted[i]));
    ASSERT_TRUE(areNone || std::memcmp(&found[i], &wanted[i], size) == 0) << "element " << i / size;
  }
}

TEST(DeviceSums, HaveTheBitsOfTheCpu) {
  constexpr int64_t first = 3, step = 71, count = 37, runs = 9;
  for (const Combining &row : combinings)
    for (int ranks : {1, 2, 5})
      for (bool add : {false, true}) {
        SCOPED_TRACE(std::string(row.name) + ", " + std::to_string(ranks) + (add ? " ranks, added" : " ranks"));
        CombineParameters p{first, step, count, runs, ranks, add, {}};
        std::vector<std::vector<char>> held;
        std::vector<const char *> sources;
        for (int rank = 0; rank < ranks; ++rank) {
          held.push_back(draw(row.element, first + step * runs, rank));
          p.sources[rank] = sources.emplace_back(held.back().data());
        }
        std::vector<char> cpu = draw(row.element, count * runs, 99), gpu = cpu;
        for (int64_t run = 0; run < runs; ++run)
          findCombination(row.how, row.element, row.wire)(sources, first + run * step, count,
                                                          &cpu[run * count * bytesOf(row.element)], add);
        std::vector<simulate::Operand> read;
        for (const auto &each : held)
          read.push_back(operandOf(each));
        ASSERT_EQ(launchDevice(row.name, blocksToCombine(p), {operandOf(gpu)}, &p, ranks, read), "");
        expectSame(row.element, gpu, cpu);
      }
}

/// All-reduces write a rank's slice where it has its own terms.
TEST(DeviceSums, MayBeInOneOfTheSources) {
  constexpr int64_t count = 1000;
  std::vector<float> a(count, 1.5F), b(count, 2);
  CombineParameters p{0, 0, count, 1, 2, 0, {(const char *)a.data(), (const char *)b.data()}};
  ASSERT_EQ(launchDevice("xlc_sum_f32", blocksToCombine(p), {operandOf(b)}, &p, 1, {operandOf(a)}), "");
  EXPECT_EQ(b, std::vector<float>(count, 3.5F));
}

TEST(DeviceSums, ConvertAsTheCpuDoes) {
  constexpr int64_t count = 5000;
  for (const Converting &row : convertings) {
    SCOPED_TRACE(row.name);
    ConvertParameters p{count};
    std::vector<char> from = draw(row.from, count, 7), gpu(count * bytesOf(row.to));
    std::vector<char> cpu = convert(row.from, from.data(), count, row.to);
    bool crosses = row.from != Element::F64 && row.to != Element::F64; // on a CPU messages do not
    if (crosses)
      findConversion(row.from, row.to)(from.data(), count, cpu.data());
    ASSERT_EQ(launchDevice(row.name, blocksToConvert(p), {operandOf(from), operandOf(gpu)}, &p, 3), "");
    if (crosses)
      EXPECT_EQ(gpu, cpu);
    else
      expectSame(row.to, gpu, cpu);
  }
}

} // namespace
