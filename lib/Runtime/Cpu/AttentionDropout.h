// Applies dropout to the probabilities of a query, a block of keys at a time.
#ifndef XLC_LIB_RUNTIME_CPU_ATTENTIONDROPOUT_H
#define XLC_LIB_RUNTIME_CPU_ATTENTIONDROPOUT_H

#include "AttentionRows.h"
#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/LibraryShapes.h"

namespace xlc::runtime {

/// The number of keys in a block.
constexpr int64_t keyBlock = 128;

/// Multiplies elements of query `i` and the keys [j, j + count) of a block by 1 / (1 - ratio), or by 0 if they are
/// dropped. Does nothing without dropout.
class Dropping {
public:
  Dropping(const AttentionShape &s, const HeadDraws *draws, int64_t i, int64_t j, int64_t count) : count(count) {
    if (!draws)
      return;
    KeptWords words{(uint64_t)draws->key, (uint64_t)draws->subsequence, firstKeptWord(s.ratio),
                    (float)KeptScale(s.ratio).value()};
    kept = keptRow(words, (uint64_t)(draws->first + i * s.keys + j), count, factors);
  }
  Dropping(const Dropping &) = delete;

  void apply(float *row) const {
    if (kept)
      multiplyRow(row, kept, count);
  }

private:
  int64_t count;
  const float *kept = nullptr;
  float factors[keptRoom(keyBlock)];
};

} // namespace xlc::runtime

#endif
