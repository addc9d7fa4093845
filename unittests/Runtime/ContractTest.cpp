// Contractions against three nested loops, over sizes around the tile edges, all orders of strides, thread counts, and
// types.
#include "Cpu/Contract.h"
#include "Cpu/LibraryProduct.h"
#include "Cpu/Product.h"
#include "Elements.h"
#include "RandomFloats.h"
#include "xlc/Runtime/CpuLevel.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

/// Libraries as programs have them: with AMX, which those leave alone, oneDNN's sums depend on how many rows a call has.
struct AsInPrograms : testing::Environment {
  void SetUp() override { limitLibraries(findHostLevel()); }
};
const testing::Environment *const asInPrograms = testing::AddGlobalTestEnvironment(new AsInPrograms);

/// Types of operands and result.
constexpr std::pair<FloatType, FloatType> types[] = {{FloatType::F32, FloatType::F32},
                                                     {FloatType::BF16, FloatType::F32},
                                                     {FloatType::BF16, FloatType::BF16},
                                                     {FloatType::F16, FloatType::F32},
                                                     {FloatType::F16, FloatType::F16}};
bool isNarrow(FloatType type) { return type != FloatType::F32; }

/// Does all parts of the call.
void runParts(const ContractShape &s, int threads, bool accumulate, const void *a, const void *b, const void *bias,
              void *y) {
  Contraction contraction(s, threads, accumulate);
  EXPECT_LE(contraction.workspace(), contractWorkspace(s, threads));
  std::vector<char> memory(contraction.workspace() + 64);
  char *workspace = (char *)(((uintptr_t)memory.data() + 63) / 64 * 64);
  for (int64_t piece = 0; piece < contraction.pieces(); ++piece) {
    for (int part = 0; part < contraction.parts(); ++part)
      contraction.pack(piece, part, b, workspace);
    for (int part = 0; part < contraction.parts(); ++part)
      contraction.run(piece, part, a, b, bias, y, workspace);
  }
}

/// Largest difference to the naive product when each of these numbers of parts does the call, beyond the rounding of a
/// narrow result. The product is computed once.
double findError(const ContractShape &s, const std::vector<int> &threads, bool accumulate) {
  int64_t batches = s.batch.empty() ? 1 : s.batch[0].size;
  ContractShape::Batch step = s.batch.empty() ? ContractShape::Batch{1, 0, 0, 0} : s.batch[0];
  auto span = [&](int64_t a, int64_t sa, int64_t b, int64_t sb, int64_t sBatch) {
    return (a - 1) * sa + (b - 1) * sb + (batches - 1) * sBatch + 1;
  };
  Elements a(s.operands, randomFloats(span(s.m, s.aM, s.k, s.aK, step.a), 1)),
      b(s.operands, randomFloats(span(s.k, s.bK, s.n, s.bN, step.b), 2)),
      y(s.result, randomFloats(span(s.m, s.yM, s.n, s.yN, step.y), 4)), bias(s.result, randomFloats(s.n, 3));
  std::vector<float> before = y.floats(), left = a.floats(), right = b.floats();
  std::vector<Elements> results(threads.size(), y);
  for (size_t i = 0; i < threads.size(); ++i)
    runParts(s, threads[i], accumulate, a.data(), b.data(), s.epilogue.bias ? bias.data() : nullptr, results[i].data());
  double worst = 0;
  for (int64_t t = 0; t < batches; ++t)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        int64_t at = t * step.y + i * s.yM + j * s.yN;
        double sum = (accumulate ? before[at] : 0) + (s.epilogue.bias ? bias[j] : 0);
        for (int64_t p = 0; p < s.k; ++p)
          sum += (double)left[t * step.a + i * s.aM + p * s.aK] * right[t * step.b + p * s.bK + j * s.bN];
        for (const Elements &result : results)
          worst = std::max(worst, errorBeyondRounding(s.result, sum, result[at]) / std::sqrt((double)s.k));
      }
  return worst;
}
double findError(const ContractShape &s, int threads, bool accumulate) {
  return findError(s, std::vector{threads}, accumulate);
}

/// One of XLC_TEST_EVERY cases, drawn: with sanitizers they take ten times as long.
bool isChosen(std::minstd_rand &random) {
  const char *every = std::getenv("XLC_TEST_EVERY");
  return !every || random() % std::strtoul(every, nullptr, 10) == 0;
}

TEST(Contract, EqualsTheNaiveProductInEveryStrideOrder) {
  std::minstd_rand random;
  for (int64_t m : {1, 3, 14, 37, 130})
    for (int64_t n : {1, 7, 16, 33, 96})
      for (int64_t k : {1, 5, 64, 300})
        for (int order = 0; order < 8; ++order)
          for (int64_t gap : {0, 3})
            for (auto [operands, result] : types) {
              if (!isChosen(random))
                continue;
              ContractShape s{};
              s.operands = operands, s.result = result;
              s.m = m, s.n = n, s.k = k, s.epilogue.bias = order % 3 == 1 && operands == result;
              s.aM = order & 1 ? 1 : k + gap, s.aK = order & 1 ? m + gap : 1;
              s.bK = order & 2 ? 1 : n + gap, s.bN = order & 2 ? k + gap : 1;
              s.yM = order & 4 ? 1 : n + gap, s.yN = order & 4 ? m + gap : 1;
              ASSERT_LT(findError(s, 1 + (order + m) % 3, (m + n + order) % 2 && !isNarrow(result)), 2e-6)
                  << m << " " << n << " " << k << " order " << order << " gap " << gap << " " << nameOf(operands) << " "
                  << nameOf(result);
            }
}

TEST(Contract, LargeContractionsEqualTheNaiveProduct) {
  for (int order = 0; order < 8; ++order)
    for (auto [operands, result] : types) {
      int64_t m = 350, n = 530, k = 260; // a narrow result is summed aside in tiles of 336 x 512
      ContractShape s{};
      s.operands = operands, s.result = result;
      s.m = m, s.n = n, s.k = k, s.epilogue.bias = order % 2 && operands == result;
      s.aM = order & 1 ? 1 : k, s.aK = order & 1 ? m : 1;
      s.bK = order & 2 ? 1 : n, s.bN = order & 2 ? k : 1;
      s.yM = order & 4 ? 1 : n, s.yN = order & 4 ? m : 1;
      ASSERT_LT(findError(s, 1 + order % 2, order % 4 == 3 && !isNarrow(result)), 2e-6)
          << "order " << order << " " << nameOf(operands) << " " << nameOf(result);
    }
}

/// The bound is what oneDNN's one long sum of 256 terms exceeds twice.
TEST(Contract, SmallContractionsRoundLessThanOneLongSum) {
  ContractShape s{};
  s.m = 128, s.n = 128, s.k = 256, s.aM = 256, s.aK = 1, s.bK = 128, s.bN = 1, s.yM = 128, s.yN = 1;
  ASSERT_LT(findError(s, 1, false), 3e-7);
}

/// Sums stay below 32, where half a unit in the last place is 9.5e-7: a sixteenth of it, as 256 is the depth.
TEST(Contract, SmallerContractionsRoundOnce) {
  for (auto [operands, result] : types) {
    ContractShape s{};
    s.operands = operands, s.result = result;
    s.m = 61, s.n = 67, s.k = 256, s.aM = 256, s.aK = 1, s.bK = 67, s.bN = 1, s.yM = 67, s.yN = 1;
    ASSERT_LT(findError(s, 1, false), 6.1e-8) << nameOf(operands) << " " << nameOf(result);
    if (!isNarrow(result))
      ASSERT_LT(findError(s, 2, true), 1.3e-7) << "once more where it is added";
  }
}

TEST(Contract, RunsBatchesAndOutputsWithoutContiguousDimension) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t batches : {1, 2, 5, 9})
      for (auto [operands, result] : types) {
        ContractShape s{
            20, 40, 33, 33, 1, 40, 1, 80, 2, {{batches, 20 * 33, 0, 20 * 80}}, {.bias = operands == result}};
        s.operands = operands, s.result = result;
        ASSERT_LT(findError(s, threads, false), 2e-6) << nameOf(operands) << " " << nameOf(result);
        if (!isNarrow(result))
          ASSERT_LT(findError(s, threads, true), 2e-6);
      }
}

TEST(Contract, OurProductHasTheSameBitsForEveryCut) {
  // The column slices that two and three threads take, against the whole.
  ProductShape whole{70, 200, 333, 333, 1, 200, 1, 200, 1};
  auto a = randomFloats(70 * 333, 1), b = randomFloats(333 * 200, 2);
  std::vector<float> expected(70 * 200), actual(70 * 200);
  std::vector<char> scratch(productWorkspace(whole));
  multiply(whole, a.data(), b.data(), expected.data(), false, scratch.data());
  for (int64_t width : {1, 32, 64, 100}) {
    for (int64_t j = 0; j < 200; j += width) {
      ProductShape part = whole;
      part.n = std::min<int64_t>(width, 200 - j);
      multiply(part, a.data(), b.data() + j, actual.data() + j, false, scratch.data());
    }
    EXPECT_EQ(expected, actual) << width;
  }
}

/// Whatever the cut, and whether a result is summed in its place or aside: the sums are those of the operands as floats.
TEST(Contract, NarrowOperandsGiveTheBitsOfFloatsOnAnyNumberOfThreads) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{70, 90, 300}, {350, 530, 300}})
    for (auto [operands, result] : types) {
      if (!isNarrow(operands) || (operands == FloatType::BF16 && m * n * k > 1 << 24)) // oneDNN's, where the CPU has it
        continue;
      ContractShape narrow{m, n, k, k, 1, 1, k, n + 3, 1, {}}; // no product of oneDNN's: rows of y are apart
      narrow.operands = operands, narrow.result = result;
      ContractShape wide = narrow;
      wide.operands = wide.result = FloatType::F32;
      Elements a(operands, randomFloats(m * k, 1)), b(operands, randomFloats(k * n, 2));
      std::vector<float> zeros(m * (n + 3)), sums = zeros, wideA = a.floats(), wideB = b.floats();
      runParts(wide, 1, false, wideA.data(), wideB.data(), nullptr, sums.data());
      std::vector<float> expected = Elements(result, sums).floats();
      for (int threads : {1, 2, 3, 8}) {
        Elements y(result, zeros);
        runParts(narrow, threads, false, a.data(), b.data(), nullptr, y.data());
        EXPECT_EQ(y.floats(), expected) << nameOf(operands) << " " << nameOf(result) << ", " << threads << " threads";
      }
    }
}

/// Of bf16, with gaps between rows or columns of its operands.
ContractShape largeShape(int64_t m, int64_t n, int64_t k, int order, FloatType result) {
  ContractShape s{m, n, k, k + 3, 1, n + 5, 1, n, 1, {}};
  if (order & 1)
    s.aM = 1, s.aK = m + 3;
  if (order & 2)
    s.bK = 1, s.bN = k + 5;
  s.operands = FloatType::BF16, s.result = result, s.epilogue.bias = result == s.operands;
  return s;
}

/// The left operand's rows are brought together, in two or more pieces where it is deep, and the right one is packed.
TEST(Contract, LargeProductsOfBf16TakeOperandsWithGaps) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{900, 270, 100}, {130, 70, 2049}, {140, 65, 4000}})
    for (int order = 0; order < 4; ++order)
      for (FloatType result : {FloatType::F32, FloatType::BF16}) {
        ContractShape s = largeShape(m, n, k, order, result);
        Elements a(s.operands, randomFloats((m + 3) * (k + 3), 1)), b(s.operands, randomFloats((k + 5) * (n + 5), 2));
        Elements bias(result, randomFloats(n, 3));
        ASSERT_LT(findError(s, {1, 2, 3}, false), 2e-6) << order << " " << nameOf(result);
        if (!isNarrow(result))
          ASSERT_LT(findError(s, {1, 2, 3}, true), 2e-6) << order;
        std::vector<float> first;
        for (int threads : {1, 2, 3}) {
          Elements y(result, std::vector<float>(m * n));
          runParts(s, threads, false, a.data(), b.data(), s.epilogue.bias ? bias.data() : nullptr, y.data());
          if (threads == 1)
            first = y.floats();
          EXPECT_EQ(y.floats(), first) << threads << " threads, order " << order;
        }
      }
}

/// A deep right operand is packed in pieces; sums that are rounded in the end are made aside. Large... : see
/// AttentionTest.cpp.
TEST(Contract, LargeProductsOfBf16AreDoneInPieces) {
  for (FloatType result : {FloatType::F32, FloatType::BF16}) {
    ContractShape s = largeShape(48, 2048, 9001, 0, result);
    s.epilogue.bias = false;
    Contraction contraction(s, 2, false, false);
    EXPECT_EQ(contraction.pieces(), findHostLevel() >= CpuLevel::V4Bf16 ? 5 : 1);
    ContractShape few = s;
    few.m = 16;
    ASSERT_LT(findError(few, 1, false), 2e-6) << nameOf(result);
    Elements a(s.operands, randomFloats(s.m * s.aM, 1)), b(s.operands, randomFloats(s.k * s.bK, 2));
    std::vector<float> first;
    for (int threads : {1, 2, 3}) {
      Elements y(result, std::vector<float>(s.m * s.n));
      runParts(s, threads, false, a.data(), b.data(), nullptr, y.data());
      if (threads == 1)
        first = y.floats();
      EXPECT_EQ(y.floats(), first) << threads << " threads";
    }
  }
}

/// Where the plan was made for less, or the right operand is as wide as a vocabulary, parts take operands as they lie.
TEST(Contract, PacksWhatTheWorkspaceHolds) {
  bool hasBf16 = findHostLevel() >= CpuLevel::V4Bf16;
  for (int order = 0; order < 4; ++order) {
    ContractShape s = largeShape(900, 270, 100, order, FloatType::F32);
    int64_t room = Contraction(s, 2, false, false).workspace();
    for (int64_t bytes : {room, room - 64, int64_t(0)}) {
      Contraction contraction(s, 2, false, false, bytes);
      EXPECT_EQ(contraction.packs(), hasBf16 && bytes == room) << order << " " << bytes;
      if (bytes == room)
        EXPECT_EQ(contraction.workspace(), room);
    }
    EXPECT_FALSE(Contraction(largeShape(32, 50257, 768, order, FloatType::F32), 2, false, false).packs());
    s.operands = FloatType::F16;
    EXPECT_FALSE(Contraction(s, 2, false, false).packs());
  }
}

/// Of any depth, transposed or not; where the CPU multiplies bf16. Others are done by Product.h, and so is all f16.
TEST(Contract, ProductsOfBf16AreTheLibrarys) {
  bool hasBf16 = findHostLevel() >= CpuLevel::V4Bf16;
  for (int64_t k : {64, 5000})
    for (bool isTransposed : {false, true})
      for (FloatType result : {FloatType::F32, FloatType::BF16}) {
        ProductShape s{300, 200, k, k, 1, 200, 1, 200, 1};
        if (isTransposed)
          s.aM = 1, s.aK = 300, s.bK = 1, s.bN = k;
        s.operands = FloatType::BF16, s.result = result;
        EXPECT_EQ(LibraryProduct::tryMake(s, RightOperand::Strided, false, result == FloatType::F32, false) != nullptr,
                  hasBf16)
            << k << " " << isTransposed << " " << nameOf(result);
        s.operands = FloatType::F16, s.result = FloatType::F32;
        EXPECT_FALSE(LibraryProduct::tryMake(s, RightOperand::Strided, false, false, false));
      }
}

} // namespace
