// See AttentionRows.h. Sums run in 16 lanes that are added in a fixed order, whatever the instruction set's width.
#include "AttentionRows.h"

#include "NarrowVector.h"
#include "xlc/Runtime/Philox.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace xlc::runtime {
namespace {

using Float = Vector<16>::Float;
using Int = Vector<16>::Int;
using Loose = Vector<16>::Loose;

XLC_INLINE float addLanes(const Float &lanes) {
  float sum = 0;
  for (int i = 0; i < 16; ++i)
    sum += lanes[i];
  return sum;
}
XLC_INLINE float maxLanes(const Float &lanes) {
  float maximum = lanes[0];
  for (int i = 1; i < 16; ++i)
    maximum = std::max(maximum, lanes[i]);
  return maximum;
}
XLC_INLINE void fillTail(float *row, int64_t valid, int64_t padded) {
  for (int64_t i = valid; i < padded; ++i)
    row[i] = -std::numeric_limits<float>::infinity();
}

XLC_INLINE void addBiasBody(float *scores, int64_t n, float scale, const float *bias) {
  for (int64_t i = 0; i < n; ++i)
    scores[i] = scores[i] * scale + bias[i];
}

XLC_INLINE void allowBody(float *scores, int64_t n, float scale, const uint8_t *allow) {
  for (int64_t i = 0; i < n; ++i)
    scores[i] = allow[i] ? scores[i] * scale : -std::numeric_limits<float>::infinity();
}

XLC_INLINE float softmaxBody(float *scores, int64_t valid, int64_t padded, float scale, float &maximum, float &sum) {
  fillTail(scores, valid, padded);
  Float greatest = *(Loose *)scores * scale;
  for (int64_t i = 0; i < padded; i += 16) {
    Float x = *(Loose *)(scores + i) * scale;
    greatest = x > greatest ? x : greatest;
    *(Loose *)(scores + i) = x;
  }
  float next = std::max(maximum, maxLanes(greatest));
  if (next == -std::numeric_limits<float>::infinity()) {
    std::fill(scores, scores + padded, 0.0f);
    return 1;
  }
  Float total = {};
  for (int64_t i = 0; i < padded; i += 16) {
    Float x = *(Loose *)(scores + i) - next;
    exponential<16>(x);
    total += x;
    *(Loose *)(scores + i) = x;
  }
  float factor = maximum == next ? 1 : std::exp(maximum - next);
  maximum = next;
  sum = sum * factor + addLanes(total);
  return factor;
}

XLC_INLINE void probabilitiesBody(float *scores, int64_t valid, int64_t padded, float scale, double lse) {
  fillTail(scores, valid, padded);
  const float high = (float)lse, low = (float)(lse - high); // what `high` lacks is common to the row
  for (int64_t i = 0; i < padded; i += 16) {
    Float x = *(Loose *)(scores + i) * scale - high - low;
    exponential<16>(x);
    *(Loose *)(scores + i) = x;
  }
}

XLC_INLINE void scoreGradientBody(const float *probabilities, float *dscores, int64_t padded, double delta,
                                  float scale) {
  const float high = (float)delta, low = (float)(delta - high); // what `high` lacks is common to the row
  for (int64_t i = 0; i < padded; i += 16) {
    Float d = *(Loose *)(dscores + i) - high - low;
    *(Loose *)(dscores + i) = *(const Loose *)(probabilities + i) * d * scale;
  }
}

XLC_INLINE double meanBody(const float *weights, const float *values, int64_t n) {
  double sums[16] = {}, totals[16] = {};
  for (int64_t i = 0; i < n; i += 16)
    for (int64_t lane = 0; lane < 16; ++lane) {
      sums[lane] += (double)weights[i + lane] * values[i + lane];
      totals[lane] += weights[i + lane];
    }
  double sum = 0, total = 0;
  for (int64_t lane = 0; lane < 16; ++lane)
    sum += sums[lane], total += totals[lane];
  return total == 0 ? 0 : sum / total;
}

typedef uint32_t Words __attribute__((vector_size(64)));
typedef uint64_t Longs __attribute__((vector_size(128)));

XLC_INLINE void multiplyWide(const Words &x, uint32_t by, Words &high, Words &low) {
  Longs product = __builtin_convertvector(x, Longs) * (uint64_t)by;
  low = __builtin_convertvector(product, Words), high = __builtin_convertvector(product >> 32, Words);
}

/// Philox.h's drawFour of sixteen counters from `counter` on, in the order of elements.
XLC_INLINE void drawBlock(uint64_t counter, uint64_t subsequence, uint64_t key, Words (&block)[4]) {
  const Longs lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Longs counters = lanes + counter;
  Words a = __builtin_convertvector(counters, Words), b = __builtin_convertvector(counters >> 32, Words);
  Words c = Words{} + (uint32_t)subsequence, d = Words{} + (uint32_t)(subsequence >> 32);
  auto [low, high] = splitWords(key);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Words leftHigh, leftLow, rightHigh, rightLow;
    multiplyWide(a, kPhiloxLeft, leftHigh, leftLow), multiplyWide(c, kPhiloxRight, rightHigh, rightLow);
    a = rightHigh ^ b ^ low, b = rightLow, c = leftHigh ^ d ^ high, d = leftLow;
    low += kPhiloxKeyLow, high += kPhiloxKeyHigh;
  }
  // Lane i has the words of counter i: four vectors of sixteen become sixteen of four, one after the other.
  Words ab = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  Words cd = __builtin_shufflevector(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  Words abUpper = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  Words cdUpper = __builtin_shufflevector(c, d, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  block[0] = __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
  block[1] = __builtin_shufflevector(ab, cd, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
  block[2] = __builtin_shufflevector(abUpper, cdUpper, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
  block[3] = __builtin_shufflevector(abUpper, cdUpper, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
}

XLC_INLINE const float *keptBody(const KeptWords &words, uint64_t first, int64_t n, float *factors) {
  int64_t before = (int64_t)(first % kPhiloxWords), drawn = keptRoom(n);
  const Float scale = Float{} + words.scale;
  for (int64_t i = 0; i < drawn; i += 64) {
    Words block[4];
    drawBlock(first / kPhiloxWords + (uint64_t)i / kPhiloxWords, words.subsequence, words.key, block);
    for (int64_t part = 0; part < 4; ++part) {
      Int kept = block[part] >= words.firstKept;
      *(Loose *)(factors + i + 16 * part) = (Float)(kept & (Int)scale);
    }
  }
  return factors + before;
}

XLC_INLINE void multiplyBody(float *row, const float *factors, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    row[i] *= factors[i];
}

XLC_INLINE void scaleBody(const float *from, float *to, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i] * factor;
}

template <class T> XLC_INLINE float dotBody(const T *a, const T *b, int64_t n) {
  Float lanes = {}, left, right;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    load<16>(a + i, left), load<16>(b + i, right);
    lanes += left * right;
  }
  float sum = addLanes(lanes);
  for (; i < n; ++i)
    sum += (float)a[i] * (float)b[i];
  return sum;
}

// One function per row kernel and instruction set.
#define XLC_FOR_EACH_ISA(result, name, parameters, ...)                                                                \
  XLC_AVX512 result name##Avx512 parameters { return name##Body(__VA_ARGS__); }                                        \
  XLC_AVX2 result name##Avx2 parameters { return name##Body(__VA_ARGS__); }                                            \
  result name##Any parameters {                                                                                        \
    switch (findIsa()) {                                                                                               \
    case Isa::Avx512:                                                                                                  \
      return name##Avx512(__VA_ARGS__);                                                                                \
    case Isa::Avx2:                                                                                                    \
      return name##Avx2(__VA_ARGS__);                                                                                  \
    case Isa::Baseline:                                                                                                \
      break;                                                                                                           \
    }                                                                                                                  \
    return name##Body(__VA_ARGS__);                                                                                    \
  }
XLC_FOR_EACH_ISA(void, addBias, (float *scores, int64_t n, float scale, const float *bias), scores, n, scale, bias)
XLC_FOR_EACH_ISA(void, allow, (float *scores, int64_t n, float scale, const uint8_t *allow), scores, n, scale, allow)
XLC_FOR_EACH_ISA(float, softmax,
                 (float *scores, int64_t valid, int64_t padded, float scale, float &maximum, float &sum), scores, valid,
                 padded, scale, maximum, sum)
XLC_FOR_EACH_ISA(void, probabilities, (float *scores, int64_t valid, int64_t padded, float scale, double lse), scores,
                 valid, padded, scale, lse)
XLC_FOR_EACH_ISA(void, scoreGradient,
                 (const float *probabilities, float *dscores, int64_t padded, double delta, float scale), probabilities,
                 dscores, padded, delta, scale)
XLC_FOR_EACH_ISA(double, mean, (const float *weights, const float *values, int64_t n), weights, values, n)
XLC_FOR_EACH_ISA(const float *, kept, (const KeptWords &words, uint64_t first, int64_t n, float *factors), words, first,
                 n, factors)
XLC_FOR_EACH_ISA(void, multiply, (float *row, const float *factors, int64_t n), row, factors, n)
XLC_FOR_EACH_ISA(void, scale, (const float *from, float *to, int64_t n, float factor), from, to, n, factor)
#undef XLC_FOR_EACH_ISA

template <class T> XLC_AVX512 float dotAvx512(const T *a, const T *b, int64_t n) { return dotBody(a, b, n); }
template <class T> XLC_AVX2 float dotAvx2(const T *a, const T *b, int64_t n) { return dotBody(a, b, n); }

} // namespace

void addBiasRow(float *scores, int64_t n, float scale, const float *bias) { addBiasAny(scores, n, scale, bias); }
void allowRow(float *scores, int64_t n, float scale, const uint8_t *allow) { allowAny(scores, n, scale, allow); }
float softmaxRow(float *scores, int64_t valid, int64_t padded, float scale, float &maximum, float &sum) {
  return softmaxAny(scores, valid, padded, scale, maximum, sum);
}
void probabilitiesRow(float *scores, int64_t valid, int64_t padded, float scale, double lse) {
  probabilitiesAny(scores, valid, padded, scale, lse);
}
void scoreGradientRow(const float *probabilities, float *dscores, int64_t padded, double delta, float scale) {
  scoreGradientAny(probabilities, dscores, padded, delta, scale);
}
double meanRow(const float *weights, const float *values, int64_t n) { return meanAny(weights, values, n); }
const float *keptRow(const KeptWords &words, uint64_t first, int64_t n, float *factors) {
  return keptAny(words, first, n, factors);
}
void multiplyRow(float *row, const float *factors, int64_t n) { multiplyAny(row, factors, n); }
void scaleRow(const float *from, float *to, int64_t n, float factor) { scaleAny(from, to, n, factor); }

template <class T> float dotRow(const T *a, const T *b, int64_t n) {
  switch (findIsa()) {
  case Isa::Avx512:
    return dotAvx512(a, b, n);
  case Isa::Avx2:
    return dotAvx2(a, b, n);
  case Isa::Baseline:
    return dotBody(a, b, n);
  }
}

template float dotRow(const float *, const float *, int64_t);
template float dotRow(const Bf16 *, const Bf16 *, int64_t);
template float dotRow(const Half *, const Half *, int64_t);

} // namespace xlc::runtime
