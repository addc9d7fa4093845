// The generated kernel of a Dropout beside a loop of vectors that draws the same words.
//
//     bench-draw [REPETITIONS]
//
// y = dropout(x, 0.1) of 16,384 floats in the cache, on one core: as a program computes it, by the kernel that Lower
// makes of the small ops that Import writes, and by a loop that draws sixteen counters at a time for their 64
// elements. The two take turns; the best repetition of each counts. Prints both in elements per second, and the
// kernel over the loop; ends with 1 where that is below 0.5.
#include "CompiledKernel.h"

#include "xlc/Runtime/Dropout.h"
#include "xlc/Runtime/Philox.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace xlc;
using namespace xlc::runtime;

namespace {

constexpr int64_t rows = 16, columns = 1024, elements = rows * columns;
constexpr uint64_t key = 0x9fd3a0b1c2d4e5f6, subsequence = subsequenceOfSite(3);
constexpr float ratio = 0.1F;

typedef uint32_t Words __attribute__((vector_size(64)));
typedef uint64_t Longs __attribute__((vector_size(128)));
typedef float Floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t Integers __attribute__((vector_size(64)));

#define INLINE inline __attribute__((always_inline))

INLINE void multiply(const Words &x, uint32_t by, Words &high, Words &low) {
  Longs product = __builtin_convertvector(x, Longs) * (uint64_t)by;
  low = __builtin_convertvector(product, Words), high = __builtin_convertvector(product >> 32, Words);
}

INLINE void dropBlock(const float *x, float *y, uint64_t counter, uint32_t first, float scale) {
  const Longs lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Longs counters = lanes + counter;
  Words a = __builtin_convertvector(counters, Words), b = __builtin_convertvector(counters >> 32, Words);
  Words c = Words{} + (uint32_t)subsequence, d = Words{} + (uint32_t)(subsequence >> 32);
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    Words leftHigh, leftLow, rightHigh, rightLow;
    multiply(a, kPhiloxLeft, leftHigh, leftLow), multiply(c, kPhiloxRight, rightHigh, rightLow);
    a = rightHigh ^ b ^ low, b = rightLow, c = leftHigh ^ d ^ high, d = leftLow;
    low += kPhiloxKeyLow, high += kPhiloxKeyHigh;
  }
  Words front[2] = {__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)};
  Words back[2] = {__builtin_shufflevector(c, d, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                   __builtin_shufflevector(c, d, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)};
  for (int half = 0; half < 2; ++half) {
    Words words[2] = {
        __builtin_shufflevector(front[half], back[half], 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23),
        __builtin_shufflevector(front[half], back[half], 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)};
    for (int part = 0; part < 2; ++part) {
      int64_t at = 32 * half + 16 * part;
      Floats scaled = *(const Floats *)(x + at) * scale;
      *(Floats *)(y + at) = (Floats)((Integers)scaled & (Integers)(words[part] >= first));
    }
  }
}

INLINE void dropAll(const float *x, float *y) {
  auto scale = (float)KeptScale(ratio).value();
  for (int64_t i = 0; i < elements; i += 64)
    dropBlock(x + i, y + i, (uint64_t)i / kPhiloxWords, firstKeptWord(ratio), scale);
}
#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))) void dropAvx512(const float *x, float *y) {
  dropAll(x, y);
}
__attribute__((target("avx2,fma"))) void dropAvx2(const float *x, float *y) { dropAll(x, y); }
#endif

void drop(const float *x, float *y) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return dropAvx512(x, y);
  if (__builtin_cpu_supports("avx2"))
    return dropAvx2(x, y);
#endif
  dropAll(x, y);
}

/// What Import writes of a Dropout.
test::KernelText textOfDropout() {
  const std::string shape = std::to_string(rows) + "x" + std::to_string(columns) + "x", f = "tensor<" + shape + "f32>",
                    i = "tensor<" + shape + "i64>", w = "tensor<" + shape + "i32>", k = "tensor<" + shape + "i1>";
  KeptScale scale(ratio);
  auto number = [](const std::string &name, int64_t value, const std::string &type) {
    return name + " = graph.constant dense<" + std::to_string(value) + "> : " + type + "\n";
  };
  std::string body =
      "%c = graph.iota dim 1 : " + i + "\n%r = graph.iota dim 0 : " + i + "\n" + number("%n", columns, i) +
      "%m = graph.mul %r, %n : " + i + "\n%e = graph.add %c, %m : " + i + "\n" + number("%k", (int64_t)key, i) +
      number("%s", (int64_t)subsequence, i) + "%w = graph.random_bits %e, %k, %s : " + w + "\n" + number("%z", 0, w) +
      number("%first", (int32_t)firstKeptWord(ratio), w) + "%u = graph.compare lt %w, %z : " + w + " -> " + k +
      "\n%a = graph.compare ge %w, %first : " + w + " -> " + k + "\n%kept = graph.or %u, %a : " + k +
      "\n%scaled = graph.scale %0 by " + std::to_string(scale.numerator) + " over " +
      std::to_string(scale.denominator) + " : " + f + "\n%none = graph.constant dense<0.0> : " + f +
      "\n%y = graph.select %kept, %scaled, %none : " + k + ", " + f + " => %y";
  return {"loop", {{"f32", {rows, columns}}}, {{"f32", {rows, columns}}}, body};
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <typename Run> double secondsOf(Run run) {
  constexpr int calls = 200;
  double begin = now();
  for (int call = 0; call < calls; ++call)
    run();
  return (now() - begin) / calls;
}

} // namespace

int main(int count, char **arguments) {
  int repetitions = count > 1 ? (int)std::max(1L, std::strtol(arguments[1], nullptr, 10)) : 20;
  test::CompiledKernel kernel(textOfDropout());
  std::vector<float> x(elements), byKernel(elements), byLoop(elements);
  for (int64_t i = 0; i < elements; ++i)
    x[i] = (float)(i % 97) - 48.5F;
  auto runKernel = [&] { kernel.call({(char *)x.data(), (char *)byKernel.data()}, 0, kernel.extent()); };
  auto runLoop = [&] { drop(x.data(), byLoop.data()); };
  double ofKernel = 1e9, ofLoop = 1e9;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    ofKernel = std::min(ofKernel, secondsOf(runKernel));
    ofLoop = std::min(ofLoop, secondsOf(runLoop));
  }
  int64_t dropped = std::count(byLoop.begin(), byLoop.end(), 0.0F);
  if (!std::equal(byKernel.begin(), byKernel.end(), byLoop.begin(),
                  [](float a, float b) { return (a == 0) == (b == 0); })) {
    std::fprintf(stderr, "the kernel drops other elements than the loop\n");
    return 1;
  }
  std::printf("%lld of %lld elements are dropped by both\n", (long long)dropped, (long long)elements);
  std::printf("kernel %.2f G elements/s, loop %.2f G elements/s, ratio %.2f\n", elements / ofKernel / 1e9,
              elements / ofLoop / 1e9, ofLoop / ofKernel);
  return ofLoop / ofKernel < 0.5 ? 1 : 0;
}
