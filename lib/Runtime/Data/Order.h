// Which row a sample is. A run's samples count from 0; each n of them, n the rows, are an epoch, which has
// every row once. Nothing is stored and nothing has a state: the row of any sample of any epoch follows from
// its number alone, so it is the same for every layout, for every thread and after every restart.
//
//   in order     row = s mod n
//   shuffled     row = permutation of epoch s div n at s mod n: a Feistel network on [0, a b), a = ceil(sqrt n),
//                b = ceil(n / a), walked until it falls below n (Black and Rogaway, Ciphers with Arbitrary Finite
//                Domains, 2002):
//
//       x = L b + R     16 rounds:  f of 64 bits from philox(counter = (v low, v high, epoch, round), key = seed)
//                                   even: v = R, L = (L + f) mod a      odd: v = L, R = (R + f) mod b
//
// Sixteen rounds, because of small sets: with eight, permutations of five rows are not equally frequent.
#ifndef XLC_LIB_RUNTIME_DATA_ORDER_H
#define XLC_LIB_RUNTIME_DATA_ORDER_H

#include "xlc/Runtime/Philox.h"

namespace xlc::runtime {

class Order {
public:
  static constexpr uint32_t rounds = 16;

  Order() = default;
  /// Of `rows` rows, at least one; shuffled by `seed`, or in order.
  static Order inOrder(uint64_t rows) { return Order(rows, false, 0); }
  static Order shuffled(uint64_t rows, uint64_t seed) { return Order(rows, true, seed); }

  /// Rows of an epoch.
  uint64_t rows() const { return count; }
  bool isShuffled() const { return shuffles; }

  /// The row of a sample of the run.
  uint64_t rowOf(uint64_t sample) const {
    uint64_t row = sample % count;
    return shuffles ? permute(row, (uint32_t)(sample / count)) : row;
  }

private:
  Order(uint64_t rows, bool shuffles, uint64_t seed) : count(rows), shuffles(shuffles), key(splitWords(seed)) {
    while (columns < rows / columns + (rows % columns != 0)) // a < n / a, rounded up
      columns = columns * 2;
    for (uint64_t low = columns / 2; low + 1 < columns;) { // the least a with a a >= n lies in (low, columns]
      uint64_t middle = low + (columns - low) / 2;
      (middle >= rows / middle + (rows % middle != 0) ? columns : low) = middle;
    }
    lines = rows / columns + (rows % columns != 0);
  }

  uint64_t draw(uint64_t value, uint32_t epoch, uint32_t round) const {
    auto [low, high] = splitWords(value);
    auto words = philox({low, high, epoch, round}, key);
    return words[0] | (uint64_t)words[1] << 32;
  }

  uint64_t permute(uint64_t x, uint32_t epoch) const {
    do {
      uint64_t left = x / lines, right = x % lines;
      for (uint32_t round = 0; round < rounds; ++round)
        if (round % 2 == 0)
          left = (left + draw(right, epoch, round) % columns) % columns;
        else
          right = (right + draw(left, epoch, round) % lines) % lines;
      x = left * lines + right;
    } while (x >= count);
    return x;
  }

  uint64_t count = 1;
  bool shuffles = false;
  std::array<uint32_t, 2> key{};
  uint64_t columns = 1, lines = 1; ///< a and b
};

} // namespace xlc::runtime

#endif
