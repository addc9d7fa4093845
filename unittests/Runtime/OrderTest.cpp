// The order of rows: every row occurs once in each epoch, all permutations are equally likely, and the numbers are
// those of the definition.
#include "Data/Order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

using namespace xlc::runtime;

namespace {

std::vector<uint64_t> epochOf(const Order &order, uint64_t epoch) {
  std::vector<uint64_t> rows(order.rows());
  for (uint64_t i = 0; i < rows.size(); ++i)
    rows[i] = order.rowOf(epoch * rows.size() + i);
  return rows;
}

void expectPermutations(uint64_t n) {
  std::vector<uint64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  Order order = Order::shuffled(n, 7 + n);
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<uint64_t> rows = epochOf(order, epoch);
    std::sort(rows.begin(), rows.end());
    ASSERT_EQ(rows, all) << n << " rows, epoch " << epoch;
  }
}

/// How far the frequencies of all permutations of n rows lie from equal ones: chi-squared less its mean, in standard
/// deviations.
double deviationOfPermutations(unsigned n) {
  constexpr uint64_t seeds = 120000;
  uint64_t permutations = 1;
  for (unsigned i = 2; i <= n; ++i)
    permutations *= i;
  std::vector<uint64_t> seen(permutations);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    std::vector<uint64_t> rows = epochOf(Order::shuffled(n, seed), 0);
    uint64_t number = 0; // of the permutation, in factorial base
    for (unsigned i = 0; i < n; ++i)
      number = number * (n - i) + (uint64_t)std::count_if(rows.begin() + i + 1, rows.end(),
                                                          [&](uint64_t later) { return later < rows[i]; });
    ++seen[number];
  }
  double expected = (double)seeds / (double)permutations, sum = 0, freedom = (double)permutations - 1;
  for (uint64_t count : seen)
    sum += ((double)count - expected) * ((double)count - expected) / expected;
  return (sum - freedom) / std::sqrt(2 * freedom);
}

} // namespace

TEST(Order, HasEveryRowOnceInEachEpoch) {
  for (uint64_t n = 1; n <= 300; ++n)
    expectPermutations(n);
  expectPermutations(4097);
  expectPermutations(65537);
}

TEST(Order, HasAllPermutationsOfFewRowsAlike) {
  for (unsigned n : {4u, 5u, 6u})
    EXPECT_LT(std::abs(deviationOfPermutations(n)), 5) << n << " rows";
}

TEST(Order, EpochsAndSeedsDiffer) {
  std::set<std::vector<uint64_t>> seen;
  for (uint64_t seed = 0; seed < 4; ++seed)
    for (uint64_t epoch = 0; epoch < 4; ++epoch)
      seen.insert(epochOf(Order::shuffled(100, seed), epoch));
  seen.insert(epochOf(Order::shuffled(100, (uint64_t)1 << 32), 0)); // both words of the seed count
  EXPECT_EQ(seen.size(), 17u);
}

TEST(Order, InOrderBeginsAgainBehindTheLastRow) {
  Order order = Order::inOrder(3);
  EXPECT_EQ(epochOf(order, 0), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(epochOf(order, 9), (std::vector<uint64_t>{0, 1, 2}));
}

/// As written in Python from the definition (test/EndToEnd/rows.py).
TEST(Order, HasTheNumbersOfItsDefinition) {
  EXPECT_EQ(epochOf(Order::shuffled(10, 42), 1), (std::vector<uint64_t>{5, 4, 2, 3, 8, 7, 6, 9, 0, 1}));
  Order huge = Order::shuffled(((uint64_t)1 << 40) + 7, 3);
  EXPECT_EQ((std::vector<uint64_t>{huge.rowOf(0), huge.rowOf(1), huge.rowOf(huge.rows())}),
            (std::vector<uint64_t>{474773586521, 419789548640, 451028516073}));
}
