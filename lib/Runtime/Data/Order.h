// Maps samples to rows. The samples of a run are numbered from 0. With n rows, each n consecutive samples form an
// epoch, in which every row occurs once. Nothing is stored and there is no state: the row of any sample of any epoch is
// a function of its number only. It is therefore the same for every layout, for every thread and after every restart.
//
//   in order     row = s mod n
//   shuffled     row = permutation of epoch s div n at s mod n: a Feistel network on [0, a b), a = ceil(sqrt n),
//                b = ceil(n / a), walked until it falls below n (Black and Rogaway, Ciphers with Arbitrary Finite
//                Domains, 2002):
//
//       x = L b + R     16 rounds:  f of 64 bits from philox(counter = (v low, v high, epoch, round), key = seed)
//                                   even: v = R, L = (L + f) mod a      odd: v = L, R = (R + f) mod b
//
// Sixteen rounds are required for small sets: with eight, permutations of five rows are not equally frequent.
#ifndef XLC_LIB_RUNTIME_DATA_ORDER_H
#define XLC_LIB_RUNTIME_DATA_ORDER_H

#include "xlc/Runtime/Philox.h"

namespace xlc::runtime {

/// A divisor whose remainders are computed without a division.
class Divisor {
public:
  explicit Divisor(uint64_t value = 1) : value(value), inverse(UINT64_MAX / value) {}
  operator uint64_t() const { return value; }
  friend uint64_t operator%(uint64_t x, const Divisor &by) {
    // `inverse` is less than 2^64 / value by at most 1, so the quotient is at most 2 too small.
    uint64_t rest = x - (uint64_t)((unsigned __int128)x * by.inverse >> 64) * by.value;
    rest = rest >= by.value ? rest - by.value : rest;
    return rest >= by.value ? rest - by.value : rest;
  }

private:
  uint64_t value, inverse;
};

class Order {
public:
  static constexpr uint32_t rounds = 16;

  Order() = default;
  /// An order of `rows` rows (at least one), shuffled by `seed` or sequential.
  static Order inOrder(uint64_t rows) { return Order(rows, false, 0); }
  static Order shuffled(uint64_t rows, uint64_t seed) { return Order(rows, true, seed); }

  /// The number of rows of an epoch.
  uint64_t rows() const { return count; }
  bool isShuffled() const { return shuffles; }

  /// The row of a sample of the run.
  uint64_t rowOf(uint64_t sample) const {
    uint64_t row;
    rowsOf(sample, 1, &row);
    return row;
  }
  /// The rows of `many` consecutive samples. This is faster than single calls: a processor computes several at once.
  void rowsOf(uint64_t sample, uint64_t many, uint64_t *rows) const {
    uint64_t done = 0;
    for (; shuffles && done + lanes <= many; done += lanes)
      permute<lanes>(sample + done, rows + done);
    for (; done < many; ++done)
      shuffles ? permute<1>(sample + done, rows + done) : (void)(rows[done] = (sample + done) % count);
  }

private:
  static constexpr unsigned lanes = 4;

  Order(uint64_t rows, bool shuffles, uint64_t seed) : count(rows), shuffles(shuffles), key(splitWords(seed)) {
    uint64_t a = 1;
    while (a < rows / a + (rows % a != 0)) // a < n / a, rounded up
      a = a * 2;
    for (uint64_t low = a / 2; low + 1 < a;) { // the least a with a a >= n lies in (low, a]
      uint64_t middle = low + (a - low) / 2;
      (middle >= rows / middle + (rows % middle != 0) ? a : low) = middle;
    }
    columns = Divisor(a), lines = Divisor(rows / a + (rows % a != 0));
  }

  /// Numbers for `some` samples, which a processor computes at once.
  template <unsigned some> using Lanes [[gnu::vector_size(some * sizeof(uint64_t))]] = uint64_t;

  /// The first two words of philox of each value: its rounds, with 64 bits for each word.
  template <unsigned some>
  void draw(const uint64_t *values, const uint32_t *epochs, uint32_t round, uint64_t *f) const {
    constexpr uint64_t low = UINT32_MAX;
    Lanes<some> a, b, c, d = Lanes<some>{} + round;
    for (unsigned i = 0; i < some; ++i)
      a[i] = values[i] & low, b[i] = values[i] >> 32, c[i] = epochs[i];
    uint32_t first = key[0], second = key[1];
    for (int step = 0; step < kPhiloxRounds; ++step) {
      Lanes<some> left = (a & low) * kPhiloxLeft, right = (c & low) * kPhiloxRight;
      a = right >> 32 ^ b ^ first, b = right & low;
      c = left >> 32 ^ d ^ second, d = left & low;
      first += kPhiloxKeyLow, second += kPhiloxKeyHigh;
    }
    a |= b << 32;
    for (unsigned i = 0; i < some; ++i)
      f[i] = a[i];
  }

  /// (x + f mod n) mod n, for x below n.
  static uint64_t add(uint64_t x, uint64_t f, const Divisor &n) {
    uint64_t sum = x + f % n;
    return sum >= n ? sum - n : sum;
  }

  /// The rows of `some` samples, beginning at `sample`.
  template <unsigned some> void permute(uint64_t sample, uint64_t *rows) const {
    uint32_t epochs[some];
    for (unsigned i = 0; i < some; ++i)
      rows[i] = (sample + i) % count, epochs[i] = (uint32_t)((sample + i) / count);
    walk<some>(rows, epochs);
    for (unsigned i = 0; i < some; ++i)
      while (rows[i] >= count)
        walk<1>(rows + i, epochs + i);
  }

  template <unsigned some> void walk(uint64_t *x, const uint32_t *epochs) const {
    uint64_t left[some], right[some], f[some];
    for (unsigned i = 0; i < some; ++i)
      left[i] = x[i] / lines, right[i] = x[i] % lines;
    for (uint32_t round = 0; round < rounds; round += 2) {
      draw<some>(right, epochs, round, f);
      for (unsigned i = 0; i < some; ++i)
        left[i] = add(left[i], f[i], columns);
      draw<some>(left, epochs, round + 1, f);
      for (unsigned i = 0; i < some; ++i)
        right[i] = add(right[i], f[i], lines);
    }
    for (unsigned i = 0; i < some; ++i)
      x[i] = left[i] * lines + right[i];
  }

  uint64_t count = 1;
  bool shuffles = false;
  std::array<uint32_t, 2> key{};
  Divisor columns, lines; ///< a and b
};

} // namespace xlc::runtime

#endif
