// The row work of attention between its products: maxima, exponentials and sums of one row of a tile of scores.
#ifndef XLC_LIB_RUNTIME_CPU_ATTENTIONROWS_H
#define XLC_LIB_RUNTIME_CPU_ATTENTIONROWS_H

#include <cstdint>

namespace xlc::runtime {

/// The number of elements of a row that are processed at a time.
constexpr int64_t rowLanes = 16;

/// A score of at most this value belongs to a masked key: -inf, or a lowest float that was added.
constexpr float forbiddenScore = -1e30f;

/// scores = scale * scores + bias, n elements; respectively -inf where `allow` is zero.
void addBiasRow(float *scores, int64_t n, float scale, const float *bias);
void allowRow(float *scores, int64_t n, float scale, const uint8_t *allow);

/// Running softmax of one row: scores[0, valid) become e^(scale * score - maximum), [valid, padded) zero, where
/// `maximum` is the greatest scaled score so far; `sum` is updated. Returns the factor for earlier sums. `padded` is a
/// multiple of rowLanes. If all scores so far are -inf, the row becomes zero.
float softmaxRow(float *scores, int64_t valid, int64_t padded, float scale, float &maximum, float &sum);

/// scores[0, valid) become the probabilities e^(scale * score - lse); [valid, padded) zero.
void probabilitiesRow(float *scores, int64_t valid, int64_t padded, float scale, double lse);

/// dscores = probabilities * (dscores - delta) * scale, over `padded` elements.
void scoreGradientRow(const float *probabilities, float *dscores, int64_t padded, double delta, float scale);

/// The mean of n values under weights that need not sum to one; n is a multiple of rowLanes.
double meanRow(const float *weights, const float *values, int64_t n);

/// The factors of n probabilities under dropout: `scale` if the random word of element `first` + i of the subsequence
/// is at least `firstKept`, else 0. `factors` has room for keptRoom(n) floats; returns the address of the first factor
/// in it.
struct KeptWords {
  uint64_t key, subsequence;
  uint32_t firstKept;
  float scale;
};
const float *keptRow(const KeptWords &words, uint64_t first, int64_t n, float *factors);
/// Words are drawn in blocks of 64, from a multiple of four on.
constexpr int64_t keptRoom(int64_t n) { return (n + 3 + 63) / 64 * 64; }

/// row *= factors, n elements.
void multiplyRow(float *row, const float *factors, int64_t n);

/// to = factor * from, n elements; they may be the same.
void scaleRow(const float *from, float *to, int64_t n, float factor);

/// Sum of a[i] * b[i]. T: float, Bf16 or Half.
template <class T> float dotRow(const T *a, const T *b, int64_t n);

} // namespace xlc::runtime

#endif
