// reshapeStrides on every small layout, against the addresses of the elements one by one.
#include "xlc/Kernels/Views.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "gtest/gtest.h"

using namespace xlc;

namespace {

using Numbers = std::vector<int64_t>;

constexpr int64_t kLargest = 4; ///< elements per dimension

int64_t product(const Numbers &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// All shapes of `rank` dimensions of 1 to kLargest elements.
std::vector<Numbers> shapesOf(size_t rank) {
  std::vector<Numbers> shapes{{}};
  for (size_t i = 0; i < rank; ++i) {
    std::vector<Numbers> longer;
    for (const Numbers &shape : shapes)
      for (int64_t size = 1; size <= kLargest; ++size) {
        longer.push_back(shape);
        longer.back().push_back(size);
      }
    shapes = longer;
  }
  return shapes;
}

/// The address of every element, in row-major order of the indices.
Numbers addresses(const Numbers &sizes, const Numbers &strides) {
  Numbers result;
  for (int64_t linear = 0; linear < product(sizes); ++linear) {
    int64_t address = 0, rest = linear;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      address += rest % sizes[i] * strides[i];
    result.push_back(address);
  }
  return result;
}

/// Whether any strides put the elements at `wanted`: those of the unit indices are the only candidates.
bool hasStrides(const Numbers &to, const Numbers &wanted) {
  Numbers strides(to.size(), 0);
  for (size_t i = to.size(), step = 1; i-- > 0; step *= to[i])
    strides[i] = to[i] > 1 ? wanted[step] : 0;
  return addresses(to, strides) == wanted;
}

/// Row-major strides of a tensor that has `gap` more elements per row of each dimension, its dimensions permuted.
Numbers stridesOf(const Numbers &sizes, const std::vector<size_t> &order, int64_t gapAt) {
  Numbers strides(sizes.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= sizes[order[i]] + (int64_t(i) == gapAt);
  }
  return strides;
}

/// Compares for all targets of as many elements; counts views and copies.
void checkAllTargets(const Numbers &sizes, const Numbers &strides, const std::vector<std::vector<Numbers>> &targets,
                     int &views, int &copies) {
  Numbers wanted = addresses(sizes, strides);
  for (const Numbers &to : targets[product(sizes)]) {
    auto found = reshapeStrides(sizes, strides, to);
    ASSERT_EQ(found.has_value(), hasStrides(to, wanted));
    if (found) {
      ASSERT_EQ(addresses(to, Numbers(found->begin(), found->end())), wanted);
    }
    ++(found ? views : copies);
  }
}

TEST(ReshapeStrides, AgreesWithElementAddressesOnEveryShapeAndPermutation) {
  std::vector<std::vector<Numbers>> targets(kLargest * kLargest * kLargest + 1);
  for (size_t rank = 0; rank <= 4; ++rank)
    for (const Numbers &shape : shapesOf(rank))
      if (product(shape) < (int64_t)targets.size())
        targets[product(shape)].push_back(shape);
  int views = 0, copies = 0;
  for (size_t rank = 0; rank <= 3; ++rank)
    for (const Numbers &sizes : shapesOf(rank)) {
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      do {
        for (int64_t gapAt = -1; gapAt < int64_t(rank); ++gapAt)
          checkAllTargets(sizes, stridesOf(sizes, order, gapAt), targets, views, copies);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  EXPECT_GT(views, 1000);
  EXPECT_GT(copies, 1000);
}

TEST(ReshapeStrides, NothingIsRequiredOfNoElements) { EXPECT_TRUE(reshapeStrides({0, 3}, {7, 1}, {3, 0})); }

} // namespace
