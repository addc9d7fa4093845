// Vectors of floats, written once for every instruction set.
//
// The loops of this folder are templates over the vector length, forced inline into functions that name their
// instruction set (XLC_AVX512 ...), so that one text serves AVX-512, AVX2 and the baseline, and the choice is made
// once per call by the CPU at hand. `exp` is our own polynomial: its bits depend on the element only, never on how
// rows were cut between threads.
#ifndef XLC_LIB_RUNTIME_CPU_VECTOR_H
#define XLC_LIB_RUNTIME_CPU_VECTOR_H

#include "xlc/Runtime/CpuLevel.h"

#include <cstdint>
#include <cstring>

#define XLC_INLINE inline __attribute__((always_inline))
#define XLC_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#define XLC_AVX512_BF16 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,avx2,fma")))
#define XLC_AVX2 __attribute__((target("avx2,fma")))

namespace xlc::runtime {

/// Vectors of N floats; `Loose` may lie at any address.
template <int N> struct Vector {
  typedef float Float __attribute__((vector_size(N * 4)));
  typedef int32_t Int __attribute__((vector_size(N * 4)));
  typedef float Loose __attribute__((vector_size(N * 4), aligned(4), may_alias));
};

enum class Isa { Baseline, Avx2, Avx512 };

/// The instruction set of library calls: that of this CPU, unless limitLibraries was called (CpuLevel.h).
Isa findIsa();
/// Whether they also use AVX-512 BF16, by the same rule.
bool multipliesBf16();
/// The part of limitLibraries for xlc's own code: it may be called again, whereas that of oneDNN is fixed for the
/// process.
void limitOwnLibrary(CpuLevel level);

/// e^x for x <= 88; 0 below -87. Relative error under 2e-7. Cephes' reduction: x = n ln 2 + r, |r| <= ln 2 / 2.
template <int N> XLC_INLINE void exponential(typename Vector<N>::Float &x) {
  using Float = Vector<N>::Float;
  using Int = Vector<N>::Int;
  const Float magic = Float{} + 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer in the low bits
  Float shifted = x * 1.44269504f + magic;
  Float n = shifted - magic;
  Float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  Float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.0f);
  Int exponent = ((Int)shifted << 23) + 0x3f800000;
  Int tiny = x < -87.0f;
  x = (Float)(~tiny & (Int)(p * (Float)exponent));
}

} // namespace xlc::runtime

#endif
