// Products over the field by digits are exact: on random and extreme elements, sums of any length, sizes that no block
// divides, and beside elements that are not numbers.
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc::interpret;

namespace {

/// Elements of which every third has extreme digits.
Tensor<Field> draw(llvm::ArrayRef<int64_t> shape, const char *key) {
  Tensor<Field> x = randomTensor<Field>(shape, key, 1);
  uint64_t extremes[] = {Field::kPrime - 1,       (uint64_t(1) << 20),
                         (uint64_t(1) << 20) - 1, 0,
                         Field::kPrime / 2,       (uint64_t(1) << 41) + (uint64_t(1) << 20)};
  for (size_t i = 0; i < x.elements.size(); i += 3)
    x.elements[i] = Field::ofUnsigned(extremes[i / 3 % std::size(extremes)]);
  return x;
}

/// a [m, k] times b [k, n], by a function of one op.
Tensor<Field> multiply(const Tensor<Field> &a, const Tensor<Field> &b) {
  int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  MLIRContext context;
  context.loadDialect<xlc::graph::GraphDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(
      llvm::formatv("func.func @f(%a: tensor<{0}x{1}xf32>, %b: tensor<{1}x{2}xf32>) -> tensor<{0}x{2}xf32> {{\n"
                    "  %y = graph.contract \"ik,kj->ij\" %a, %b : (tensor<{0}x{1}xf32>, tensor<{1}x{2}xf32>) -> "
                    "tensor<{0}x{2}xf32>\n  return %y : tensor<{0}x{2}xf32>\n}\n",
                    m, k, n)
          .str(),
      &context);
  llvm::SmallVector<Datum<Field>> results;
  EXPECT_TRUE(module && succeeded(evaluate<Field>(module->lookupSymbol<func::FuncOp>("f"), {a, b}, {}, results)));
  return results.empty() ? Tensor<Field>(llvm::ArrayRef<int64_t>{m, n}) : std::get<Tensor<Field>>(results[0]);
}

bool isSame(Field a, Field b) { return a == b || (a.isUndefined() && b.isUndefined()); }

void expectExact(const Tensor<Field> &a, const Tensor<Field> &b) {
  Tensor<Field> y = multiply(a, b);
  int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      Field sum;
      for (int64_t p = 0; p < k; ++p)
        sum += a.elements[i * k + p] * b.elements[p * n + j];
      ASSERT_TRUE(isSame(y.elements[i * n + j], sum)) << m << " x " << k << " x " << n << " at " << i << ", " << j;
    }
}

TEST(Products, AreExactInTheField) {
  for (int64_t k : {1, 7, 1023, 1024, 1025, 2050})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {6, 8}, {7, 9}, {13, 31}})
      expectExact(draw({m, k}, "a"), draw({k, n}, "b"));
}

TEST(Products, OfTheLargestDigitsDoNotRunOver) {
  // 2^20 in all digits but the highest, which 2^61 - 1 bounds
  Field most = Field::ofUnsigned((uint64_t(1) << 20) + (uint64_t(1) << 41) + (uint64_t(1) << 60));
  for (Field a : {most, -most, Field::ofUnsigned((uint64_t(1) << 20) - 1), Field::ofUnsigned(Field::kPrime / 2)})
    expectExact(Tensor<Field>({6, 2048}, a), Tensor<Field>({2048, 8}, most));
}

TEST(Products, OfWhatIsOutsideTheFieldFollowItsRules) {
  Tensor<Field> a = draw({8, 20}, "a"), b = draw({20, 17}, "b");
  a.elements[3] = Field::absent(), b.elements[5 * 17 + 2] = Field::undefined();
  expectExact(a, b);
}

TEST(Products, DivideEachIsDivision) {
  Tensor<Field> a = draw({1000}, "a"), b = draw({1000}, "b");
  a.elements[4] = Field::absent(), b.elements[7] = Field::absent(), b.elements[8] = Field::undefined();
  a.elements[10] = b.elements[10] = Field();
  Tensor<Field> quotients = a;
  divideEach(quotients.elements.data(), b.elements.data(), 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(isSame(quotients.elements[i], a.elements[i] / b.elements[i])) << i;
    EXPECT_TRUE(isSame(a.elements[i] / Divisor<Field>(b.elements[i]), a.elements[i] / b.elements[i])) << i;
  }
}

} // namespace
