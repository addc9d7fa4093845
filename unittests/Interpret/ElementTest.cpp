// The finite field: laws on random elements and at its edges, floats mapped exactly.
#include "xlc/Interpret/Element.h"
#include <gtest/gtest.h>

using namespace xlc::interpret;

/// 0, 1, -1, the two extreme representatives, and random elements.
static std::vector<Field> samples() {
  std::vector<Field> all = {Field(), Field::ofInteger(1), Field::ofInteger(-1), Field::ofUnsigned(Field::kPrime / 2),
                            Field::ofUnsigned(Field::kPrime / 2 + 1)};
  for (int i = 0; i < 40; ++i)
    all.push_back(Field::ofUnsigned(hashOf("sample", 1, i)));
  return all;
}

TEST(Field, HasTheLawsOfAField) {
  for (Field a : samples())
    for (Field b : samples()) {
      EXPECT_TRUE(a - b + b == a);
      EXPECT_TRUE(a * b == b * a);
      Field c = Field::ofInteger(12345);
      EXPECT_TRUE((a + b) * c == a * c + b * c);
      if (b != Field()) {
        EXPECT_TRUE(a / b * b == a);
      }
    }
  EXPECT_TRUE(Field().inverse().isUndefined());
}

TEST(Field, MapsFloatsExactly) {
  // Sums and products that floating point does exactly are the same in the field.
  for (double x : {0.0, 1.0, -0.5, 0.1, 1e-5, -3.4028234663852886e38, 4.9e-324, 0x1p61, 123456.789}) {
    EXPECT_TRUE(Field::ofDouble(x) + Field::ofDouble(x) == Field::ofDouble(2 * x));
    EXPECT_TRUE(Field::ofDouble(x) * Field::ofDouble(0.25) == Field::ofDouble(x * 0.25) || std::abs(x) < 1e-300);
    EXPECT_TRUE(-Field::ofDouble(x) == Field::ofDouble(-x));
  }
  EXPECT_TRUE(Field::ofDouble(3.0) == Field::ofInteger(3));
  EXPECT_TRUE(Field::ofDouble(-INFINITY).isAbsent());
  EXPECT_TRUE(Field::ofDouble(NAN).isUndefined());
}

TEST(Field, OrdersBySignAndAbsentIsLeast) {
  EXPECT_TRUE(Field::ofInteger(-5) < Field::ofInteger(3));
  EXPECT_TRUE(Field::absent() < Field::ofInteger(-5));
  EXPECT_TRUE(larger(Field::absent(), Field::ofInteger(-5)) == Field::ofInteger(-5));
  EXPECT_TRUE(larger(Field::undefined(), Field()).isUndefined());
  EXPECT_TRUE(larger(Field(), Field::undefined()).isUndefined());
}

TEST(Field, SumsOfProductsDoNotRunOver) {
  ProductSum<Field> sum;
  Field expected;
  for (int i = 0; i < 1000; ++i) {
    Field x = Field::ofInteger(-1 - i); // close to p: the largest products
    sum.add(x, x);
    expected += x * x;
  }
  EXPECT_TRUE(sum.get() == expected);
  sum.add(Field::absent(), Field::ofInteger(1));
  EXPECT_TRUE(sum.get().isAbsent());
}

TEST(Field, FunctionsDependOnNameSeedAndElement) {
  Field x = Field::ofInteger(2);
  Functions<Field> f(1), g(2);
  EXPECT_TRUE(f.exp(x) == f.exp(x));
  EXPECT_TRUE(f.exp(x) != g.exp(x));
  EXPECT_TRUE(f.exp(x) != f.log(x));
  EXPECT_TRUE(f.pow(x, Field()) != f.pow(Field(), x));
  EXPECT_TRUE(f.exp(Field::absent()) == Field());
  EXPECT_TRUE(f.log(Field::absent()).isUndefined());
}
