// Casts to and from sixteen bits as compiled kernels do them, bit by bit against Narrow.h, which has tests of its own
// (unittests/Support): for every width of registers, and in the remainder of a row.
#include "CompiledKernel.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

constexpr int64_t kCount = 11 * 65536 + 5; // no multiple of a vector

/// Values of all magnitudes, what is halfway between neighbours of sixteen bits, and the floats beside these.
std::vector<float> makeFloats() {
  constexpr uint32_t lower[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff};
  std::vector<float> values;
  for (int64_t i = 0; i < kCount; ++i)
    values.push_back(llvm::bit_cast<float>((uint32_t)(i / 11 % 65536) << 16 | lower[i % 11]));
  return values;
}

/// y = cast x.
CompiledKernel compileCast(const std::string &from, const std::string &to, int64_t vectorBytes) {
  std::string x = "tensor<" + std::to_string(kCount) + "x" + from + ">",
              y = "tensor<" + std::to_string(kCount) + "x" + to + ">";
  return CompiledKernel(
      {"loop", {{from, {kCount}}}, {{to, {kCount}}}, "%y = graph.cast %0 : " + x + " -> " + y + " => %y"}, vectorBytes);
}

template <class To, class From> std::vector<To> run(const CompiledKernel &kernel, std::vector<From> x) {
  std::vector<To> y(x.size());
  kernel.call({(char *)x.data(), (char *)y.data()}, 0, kernel.extent());
  return y;
}

struct Narrow : testing::TestWithParam<int64_t> {};

TEST_P(Narrow, Bf16) {
  std::vector<float> x = makeFloats();
  std::vector<uint16_t> y = run<uint16_t>(compileCast("f32", "bf16", GetParam()), x);
  std::vector<float> z = run<float>(compileCast("bf16", "f32", GetParam()), y);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(y[i], runtime::toBf16(x[i])) << x[i];
    ASSERT_EQ(llvm::bit_cast<uint32_t>(z[i]), llvm::bit_cast<uint32_t>(runtime::fromBf16(y[i]))) << x[i];
  }
}

TEST_P(Narrow, Half) {
  std::vector<float> x = makeFloats();
  std::vector<uint16_t> y = run<uint16_t>(compileCast("f32", "f16", GetParam()), x);
  std::vector<float> z = run<float>(compileCast("f16", "f32", GetParam()), y);
  for (int64_t i = 0; i < kCount; ++i) {
    if (std::isnan(x[i])) {
      ASSERT_TRUE(std::isnan(runtime::fromHalf(y[i])) && std::isnan(z[i]));
      continue;
    }
    ASSERT_EQ(y[i], runtime::toHalf(x[i])) << x[i];
    ASSERT_EQ(llvm::bit_cast<uint32_t>(z[i]), llvm::bit_cast<uint32_t>(runtime::fromHalf(y[i]))) << x[i];
  }
}

/// Bit by bit as Narrow.h, for random bits that differ from element to element.
TEST_P(Narrow, RoundsStochastically) {
  std::vector<float> x = makeFloats();
  std::vector<uint32_t> bits(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    bits[i] = (uint32_t)i * 2654435761u;
  std::string shape = "tensor<" + std::to_string(kCount) + "x";
  for (const char *element : {"bf16", "f16"})
    for (unsigned draw = 0; draw < runtime::kDraws; ++draw) {
      std::string types = ": (" + shape + "f32>, " + shape + "i32>) -> " + shape + element + ">";
      CompiledKernel kernel({"loop",
                             {{"f32", {kCount}}, {"i32", {kCount}}},
                             {{element, {kCount}}},
                             "%y = graph.stochastic_cast %0, %1 draw " + std::to_string(draw) + " " + types + " => %y"},
                            GetParam());
      std::vector<uint16_t> y(kCount);
      kernel.call({(char *)x.data(), (char *)bits.data(), (char *)y.data()}, 0, kernel.extent());
      bool isBf16 = element[0] == 'b';
      for (int64_t i = 0; i < kCount; ++i) {
        uint32_t drawn = runtime::drawOf(bits[i], draw);
        if (std::isnan(x[i]))
          ASSERT_TRUE(std::isnan(isBf16 ? runtime::fromBf16(y[i]) : runtime::fromHalf(y[i])));
        else
          ASSERT_EQ(y[i], isBf16 ? runtime::toBf16(runtime::toBf16Neighbour(x[i], drawn))
                                 : runtime::toHalf(runtime::toHalfNeighbour(x[i], drawn)))
              << element << " " << x[i] << " draw " << drawn;
      }
    }
}

/// Rows that are one element longer than whole vectors: the last lane of a row must not reach into the next. What is
/// added differs along a row, so that the kernel has a loop for rows.
TEST_P(Narrow, LastLaneOfARow) {
  constexpr int64_t rows = 3, columns = 65;
  auto sumAs = [&](const std::string &from, const std::string &to) {
    std::string x = "tensor<3x65x" + from + ">", row = "tensor<65x" + from + ">", y = "tensor<3x65x" + to + ">";
    return CompiledKernel({"loop",
                           {{from, {rows, columns}}, {from, {columns}}},
                           {{to, {rows, columns}}},
                           "%b = graph.broadcast %1 : " + row + " -> " + x + " %s = graph.add %0, %b : " + x +
                               " %y = graph.cast %s : " + x + " -> " + y + " => %y"},
                          GetParam());
  };
  auto callRows = [](const CompiledKernel &kernel, auto &x, auto &row, auto &y) { // from the last to the first
    for (int64_t end = kernel.extent(); end > 0; --end)
      kernel.call({(char *)x.data(), (char *)row.data(), (char *)y.data()}, end - 1, end);
  };
  std::vector<float> floats(rows * columns), row(columns);
  std::vector<int64_t> integers(rows * columns), integerRow(columns);
  for (int64_t i = 0; i < rows * columns; ++i)
    floats[i] = float(i) + 0.5f, integers[i] = i + 1;
  for (int64_t i = 0; i < columns; ++i)
    row[i] = float(i), integerRow[i] = i;
  std::vector<uint16_t> narrow(rows * columns), half(rows * columns);
  std::vector<int32_t> shorter(rows * columns);
  callRows(sumAs("f32", "bf16"), floats, row, narrow);
  callRows(sumAs("f32", "f16"), floats, row, half);
  callRows(sumAs("i64", "i32"), integers, integerRow, shorter);
  for (int64_t i = 0; i < rows * columns; ++i) {
    EXPECT_EQ(narrow[i], runtime::toBf16(floats[i] + row[i % columns])) << i;
    EXPECT_EQ(half[i], runtime::toHalf(floats[i] + row[i % columns])) << i;
    EXPECT_EQ(shorter[i], integers[i] + integerRow[i % columns]) << i;
  }
}

/// What moves elements does not compute with them: bits stay as they are, also where one is chosen of two.
TEST_P(Narrow, MovesBits) {
  constexpr int64_t count = 70;
  for (const char *element : {"bf16", "f16"}) {
    std::string type = "tensor<70x" + std::string(element) + ">", padded = "tensor<73x" + std::string(element) + ">",
                both = "tensor<143x" + std::string(element) + ">";
    CompiledKernel kernel(
        {"loop",
         {{"i1", {count}}, {element, {count}}, {element, {count}}},
         {{element, {2 * count + 3}}},
         "%s = graph.select %0, %1, %2 : tensor<70xi1>, " + type + " %v = graph.constant dense<1.0> : tensor<" +
             element + "> %y = graph.pad %s, %v low [1] high [2] : (" + type + ", tensor<" + element + ">) -> " +
             padded + " %z = graph.concat %y, %1 dim 0 : (" + padded + ", " + type + ") -> " + both + " => %z"},
        GetParam());
    std::vector<uint8_t> first(count);
    std::vector<uint16_t> x(count), y(count), z(2 * count + 3);
    for (int64_t i = 0; i < count; ++i)
      first[i] = i % 3 == 0, x[i] = uint16_t(i * 931), y[i] = uint16_t(0x7f81 + i); // signalling NaNs among them
    kernel.call({(char *)first.data(), (char *)x.data(), (char *)y.data(), (char *)z.data()}, 0, kernel.extent());
    uint16_t one = element[0] == 'b' ? runtime::toBf16(1) : runtime::toHalf(1);
    for (int64_t i = 0; i < count + 3; ++i)
      EXPECT_EQ(z[i], i < 1 || i > count ? one : first[i - 1] ? x[i - 1] : y[i - 1]) << element << " " << i;
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(z[count + 3 + i], x[i]) << element << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Registers, Narrow, testing::Values(0, 16, 32));

} // namespace
