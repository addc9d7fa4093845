// Floats of sixteen bits: bfloat16, which is the upper half of a float, and IEEE binary16. Rounding is to nearest, ties
// to even. Subnormal numbers and infinities are kept, numbers that are too large become infinite, and a NaN becomes a
// quiet NaN.
#ifndef XLC_RUNTIME_NARROW_H
#define XLC_RUNTIME_NARROW_H

#include <bit>
#include <cstdint>

namespace xlc::runtime {

inline float fromBf16(uint16_t bits) { return std::bit_cast<float>((uint32_t)bits << 16); }

inline uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline float fromHalf(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) // subnormal: a multiple of 2^-24, exact
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>((float)mantissa * 0x1p-24f));
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13);
}

inline uint16_t toHalf(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (value != value)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x477ff000) // 65520 and more is nearer to 2^16 than to the largest half
    return sign | 0x7c00;
  if (magnitude < 0x38800000) // below 2^-14: added to 1/2, whose last place is 2^-24
    return sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000);
  magnitude -= 112 << 23;
  return sign | (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13;
}

/// The number of sixteen-bit draws per element in its random number: that of the parameter, then those of its states.
inline constexpr unsigned kDraws = 3;
/// Rounds every draw to nearest, halves away from zero.
inline constexpr uint32_t kNearestBits = 0x80008000;

/// Draw `which` of a random number; any two are independent.
inline uint32_t drawOf(uint32_t bits, unsigned which) {
  uint32_t low = bits & 0xffff, high = bits >> 16;
  return which == 0 ? low : which == 1 ? high : low ^ high ^ 0x8000;
}

/// One of the two neighbours of `value` in sixteen bits, such that the mean over all draws is `value`; for a half,
/// which uses thirteen bits of the draw, to 2^-13 of its last place. The neighbour above the largest number is
/// infinite.
inline float toBf16Neighbour(float value, uint32_t draw) {
  return value != value ? value : std::bit_cast<float>((std::bit_cast<uint32_t>(value) + draw) & 0xffff0000);
}
inline float toHalfNeighbour(float value, uint32_t draw) { // where a float is subnormal, so is then the half
  float small = value * 0x1p-112F;
  uint32_t bits = (std::bit_cast<uint32_t>(small) + (draw >> 3)) & 0xffffe000;
  return value != value ? value : std::bit_cast<float>(bits) * 0x1p112F;
}

/// These floats in memory, as types: reading gives a float, and writing rounds one.
struct Bf16 {
  uint16_t bits;
  Bf16() = default;
  explicit Bf16(float value) : bits(toBf16(value)) {}
  operator float() const { return fromBf16(bits); }
};
struct Half {
  uint16_t bits;
  Half() = default;
  explicit Half(float value) : bits(toHalf(value)) {}
  operator float() const { return fromHalf(bits); }
};

} // namespace xlc::runtime

#endif
