// Random bits as compiled kernels draw them, word by word against Philox.h, which has the authors' known answers: neighbours
// that share a counter, neighbours that begin between two counters, elements in any order, and rows of several subsequences.
#include "CompiledKernel.h"
#include "SimulatedKernel.h"
#include "xlc/Runtime/Philox.h"
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

constexpr int64_t kRows = 5, kColumns = 64 + 3;
constexpr uint64_t kKey = 0x9fd3a0b1c2d4e5f6, kSubsequence = 0x6472617700000005;

struct Order {
  const char *name;
  int64_t (*indexOf)(int64_t i);
};
constexpr Order orders[] = {
    {"from a counter's first word", [](int64_t i) { return i; }},
    {"from its second", [](int64_t i) { return i + 1; }},
    {"beyond 32 bits of counters", [](int64_t i) { return (int64_t(1) << 34) - 96 + i; }},
    {"backwards", [](int64_t i) { return 4096 - i; }},
    {"with a gap", [](int64_t i) { return i < 100 ? i : i + 7; }},
    {"every third", [](int64_t i) { return 3 * i; }},
};

/// y = random bits of the elements of operand 0. `perRow`: a row's subsequence is operand 1's.
KernelText textOf(bool perRow) {
  const std::string shape = "tensor<5x67xi64>";
  auto broadcast = [&](const std::string &from, const std::string &type) {
    return "graph.broadcast " + from + " : tensor<" + type + "> -> " + shape + "\n";
  };
  std::string body = "%k = graph.constant dense<" + std::to_string(int64_t(kKey)) +
                     "> : tensor<i64>\n%key = " + broadcast("%k", "i64");
  if (!perRow)
    body += "%c = graph.constant dense<" + std::to_string(int64_t(kSubsequence)) + "> : tensor<i64>\n";
  body += "%s = " + (perRow ? broadcast("%1", "5x1xi64") : broadcast("%c", "i64"));
  body += "%y = graph.random_bits %0, %key, %s : tensor<5x67xi32> => %y";
  return {"loop", {{"i64", {kRows, kColumns}}, {"i64", {kRows, 1}}}, {{"i32", {kRows, kColumns}}}, body};
}

int64_t subsequenceOf(bool perRow, int64_t row) { return perRow ? row * 1000003 + 17 : int64_t(kSubsequence); }

std::vector<Tensor> operandsOf(const Order &order) {
  Tensor index{{kRows, kColumns}, {}}, rows{{kRows, 1}, {}};
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    index.values.push_back(double(order.indexOf(i)));
  for (int64_t row = 0; row < kRows; ++row)
    rows.values.push_back(double(subsequenceOf(true, row)));
  return {index, rows};
}

void check(const Tensor &found, const Order &order, bool perRow) {
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    auto word = int32_t(runtime::drawWord(order.indexOf(i), subsequenceOf(perRow, i / kColumns), kKey));
    ASSERT_EQ(int32_t(found.values[i]), word) << order.name << (perRow ? ", by row, " : ", ") << i;
  }
}

struct Random : testing::TestWithParam<int64_t> {};

TEST_P(Random, BitsAreThoseOfTheirElements) {
  for (bool perRow : {false, true}) {
    CompiledKernel kernel(textOf(perRow), GetParam());
    for (const Order &order : orders)
      check(kernel.run(operandsOf(order)).front(), order, perRow);
  }
}

INSTANTIATE_TEST_SUITE_P(Registers, Random, testing::Values(0, 16, 32));

TEST(Random, BitsAreTheSameOnAGpu) {
  for (bool perRow : {false, true}) {
    SimulatedKernel gpu(textOf(perRow));
    for (const Order &order : orders) {
      Tensor found = gpu.run(operandsOf(order)).front();
      ASSERT_EQ(gpu.problem, "");
      check(found, order, perRow);
    }
  }
}

} // namespace
