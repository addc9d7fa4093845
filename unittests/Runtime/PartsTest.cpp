// Messages that are too large for one part: each byte is in exactly one part, in order, and both sides cut equally.
#include "Mpi/Parts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

using namespace xlc::runtime;

namespace {

/// The sizes of all parts, and the bytes as they cross.
struct Crossing {
  Crossing(const Runs &memory, uint64_t most) {
    mpi::forEachPart(memory, most, [&](const Runs &part) {
      sizes.push_back(part.bytes * part.outer * part.rows);
      EXPECT_LE(sizes.back(), most);
      for (uint64_t outer = 0; outer < part.outer; ++outer)
        for (uint64_t row = 0; row < part.rows; ++row)
          for (uint64_t at = 0; at < part.bytes; ++at)
            bytes.push_back(part.begin[outer * part.steps.outer + row * part.steps.row + at]);
    });
  }
  std::vector<uint64_t> sizes;
  std::vector<char> bytes;
};

TEST(Parts, OfStridedAndOfContiguousMemoryAreAlike) {
  std::vector<char> strided(120), contiguous(120);
  std::iota(strided.begin(), strided.end(), 0);
  for (uint64_t bytes = 1; bytes <= 5; ++bytes)
    for (uint64_t outer = 1; outer <= 3; ++outer)
      for (uint64_t rows = 1; rows <= 3; ++rows)
        for (uint64_t most = 1; most <= 46; ++most) {
          Crossing from({strided.data(), bytes, outer, rows, {40, 7}}, most);
          Crossing to({contiguous.data(), bytes, outer, rows, {rows * bytes, bytes}}, most);
          EXPECT_EQ(from.sizes, to.sizes);
          std::vector<char> expected;
          for (uint64_t o = 0; o < outer; ++o)
            for (uint64_t r = 0; r < rows; ++r)
              for (uint64_t b = 0; b < bytes; ++b)
                expected.push_back((char)(o * 40 + r * 7 + b));
          EXPECT_EQ(from.bytes, expected);
        }
}

} // namespace
