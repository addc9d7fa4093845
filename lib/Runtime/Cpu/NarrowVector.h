// Vectors of floats from and to memory of any float type, element for element as Narrow.h converts. For loops that name
// their instruction set, see Vector.h; the functions at the end choose it themselves.
#ifndef XLC_LIB_RUNTIME_CPU_NARROWVECTOR_H
#define XLC_LIB_RUNTIME_CPU_NARROWVECTOR_H

#include "Vector.h"

#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Runtime/Narrow.h"

#include <type_traits>

namespace xlc::runtime {

/// Vectors of the bits of N floats, and of N elements of sixteen bits.
template <int N> struct BitVector {
  typedef uint32_t Bits __attribute__((vector_size(N * 4)));
  typedef uint16_t Narrow __attribute__((vector_size(N * 2)));
};

/// N elements in memory as floats.
template <int N> XLC_INLINE void load(const float *from, typename Vector<N>::Float &to) {
  to = *(const typename Vector<N>::Loose *)from;
}
template <int N> XLC_INLINE void load(const Bf16 *from, typename Vector<N>::Float &to) {
  typename BitVector<N>::Narrow narrow;
  std::memcpy(&narrow, from, sizeof(narrow));
  to = (typename Vector<N>::Float)(__builtin_convertvector(narrow, typename BitVector<N>::Bits) << 16);
}
/// See fromHalf.
template <int N> XLC_INLINE void load(const Half *from, typename Vector<N>::Float &to) {
  using Float = Vector<N>::Float;
  using Bits = BitVector<N>::Bits;
  typename BitVector<N>::Narrow narrow;
  std::memcpy(&narrow, from, sizeof(narrow));
  Bits bits = __builtin_convertvector(narrow, Bits), magnitude = bits & 0x7fff, shifted = magnitude << 13;
  Bits tiny = (Bits)(__builtin_convertvector((typename Vector<N>::Int)magnitude, Float) * 0x1p-24f);
  Bits large = magnitude >= 0x7c00 ? shifted | 0x7f800000 : shifted + (112 << 23);
  to = (Float)((magnitude < 0x400 ? tiny : large) | (bits & 0x8000) << 16);
}

/// N floats rounded to elements in memory.
template <int N> XLC_INLINE void store(const typename Vector<N>::Float &value, Bf16 *to) {
  using Bits = BitVector<N>::Bits;
  Bits bits = (Bits)value, rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  Bits result = value != value ? bits >> 16 | 0x40 : rounded;
  auto narrow = __builtin_convertvector(result, typename BitVector<N>::Narrow);
  std::memcpy(to, &narrow, sizeof(narrow));
}
/// See toHalf.
template <int N> XLC_INLINE void store(const typename Vector<N>::Float &value, Half *to) {
  using Float = Vector<N>::Float;
  using Bits = BitVector<N>::Bits;
  Bits bits = (Bits)value, magnitude = bits & 0x7fffffff, normal = magnitude - (112 << 23);
  normal = (normal + 0xfff + (normal >> 13 & 1)) >> 13;
  Bits tiny = (Bits)((Float)magnitude + 0.5f) - 0x3f000000;
  Bits result = magnitude < 0x38800000 ? tiny : normal;
  result = magnitude >= 0x477ff000 ? Bits{} + 0x7c00 : result;
  result = value != value ? 0x7e00 | (magnitude >> 13 & 0x3ff) : result;
  auto narrow = __builtin_convertvector((bits >> 16 & 0x8000) | result, typename BitVector<N>::Narrow);
  std::memcpy(to, &narrow, sizeof(narrow));
}

/// to[i] = from[i], n elements. The last vector overlaps the one before it.
template <class T> XLC_INLINE void widen(const T *from, float *to, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    std::memcpy(to, from, n * sizeof(float));
  } else {
    using Vectors = Vector<8>;
    Vectors::Float value;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      Vector<16>::Float wide;
      load<16>(from + i, wide);
      *(Vector<16>::Loose *)(to + i) = wide;
    }
    for (; n >= 8 && i < n; i += 8) {
      int64_t at = i + 8 <= n ? i : n - 8;
      load<8>(from + at, value);
      *(Vectors::Loose *)(to + at) = value;
    }
    for (; i < n; ++i)
      to[i] = from[i];
  }
}

/// to[i] = from[i] rounded, n elements.
template <class T> XLC_INLINE void narrow(const float *from, T *to, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Vector<16>::Float value = *(const Vector<16>::Loose *)(from + i);
    store<16>(value, to + i);
  }
  for (; i < n; ++i)
    to[i] = T(from[i]);
}

/// The same, in functions that do not name an instruction set. For Bf16 and Half.
template <class T> void widenRow(const T *from, float *to, int64_t n);
template <class T> void narrowRow(const float *from, T *to, int64_t n);

/// Calls `run` with a std::type_identity of the C++ type of such elements.
template <class Run> void withType(FloatType type, Run &&run) {
  switch (type) {
  case FloatType::F32:
    return run(std::type_identity<float>());
  case FloatType::BF16:
    return run(std::type_identity<Bf16>());
  case FloatType::F16:
    return run(std::type_identity<Half>());
  }
}

} // namespace xlc::runtime

#endif
