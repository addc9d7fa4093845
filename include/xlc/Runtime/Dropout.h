// The elements that a Dropout keeps, and the factor that it scales them by: the definition shared by Import, the
// interpreter and the runtime's attention (docs/rationale/Random.md). No LLVM, no plan.
#ifndef XLC_RUNTIME_DROPOUT_H
#define XLC_RUNTIME_DROPOUT_H

#include <cmath>
#include <cstdint>

namespace xlc::runtime {

/// The lowest random word (Philox.h) that keeps an element, 0 <= ratio < 1: words with upper 31 bits of at least
/// round(ratio 2^31). Example: 2^31 for a ratio of 0.5.
inline uint32_t firstKeptWord(double ratio) { return 2 * (uint32_t)std::llround(std::ldexp(ratio, 31)); }

/// 1 / (1 - ratio) for a ratio that is a float32, as a fraction: 134217728 / 120795955 for 0.1.
struct KeptScale {
  int64_t numerator, denominator;

  explicit KeptScale(double ratio) {
    int exponent = 0;
    while (exponent < 62 && std::ldexp(ratio, exponent) != std::floor(std::ldexp(ratio, exponent)))
      ++exponent;
    numerator = int64_t(1) << exponent;
    denominator = numerator - (int64_t)std::ldexp(ratio, exponent);
  }
  double value() const { return (double)numerator / (double)denominator; }
};

/// The numbers from which attention draws the masks of one head of a sample: the number of the head's first score among
/// the elements of the site, the key of the step, and the site's subsequence. Scores are numbered from the first, row
/// by row.
struct HeadDraws {
  int64_t first, key, subsequence;
};
/// Numbers of HeadDraws.
inline constexpr int64_t kHeadDraws = 3;

} // namespace xlc::runtime

#endif
