// Numbers as elements of a type that library calls take.
#ifndef XLC_UNITTESTS_RUNTIME_ELEMENTS_H
#define XLC_UNITTESTS_RUNTIME_ELEMENTS_H

#include "xlc/Runtime/LibraryShapes.h"
#include "xlc/Runtime/Narrow.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace xlc::test {

using runtime::FloatType;

inline std::string nameOf(FloatType type) {
  return type == FloatType::F32 ? "f32" : type == FloatType::BF16 ? "bf16" : "f16";
}

/// An array in memory; it reads as floats.
class Elements {
public:
  Elements(FloatType type, const std::vector<float> &values) : type(type), bytes(values.size() * bytesOf(type)) {
    for (size_t i = 0; i < values.size(); ++i)
      put(i, values[i]);
  }

  void *data() { return bytes.data(); }
  size_t size() const { return bytes.size() / bytesOf(type); }

  float operator[](size_t i) const {
    if (type == FloatType::F32) {
      float value;
      std::memcpy(&value, &bytes[i * 4], 4);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, &bytes[i * 2], 2);
    return type == FloatType::BF16 ? runtime::fromBf16(bits) : runtime::fromHalf(bits);
  }
  std::vector<float> floats() const {
    std::vector<float> values(size());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = (*this)[i];
    return values;
  }

private:
  void put(size_t i, float value) {
    if (type == FloatType::F32)
      return (void)std::memcpy(&bytes[i * 4], &value, 4);
    uint16_t bits = type == FloatType::BF16 ? runtime::toBf16(value) : runtime::toHalf(value);
    std::memcpy(&bytes[i * 2], &bits, 2);
  }

  FloatType type;
  std::vector<char> bytes;
};

/// How far `actual` is from `expected` beyond what rounding it once to `type` explains; to float: all of it.
inline double errorBeyondRounding(FloatType type, double expected, float actual) {
  double error = std::abs(expected - actual);
  if (type == FloatType::F32)
    return error;
  int digits = type == FloatType::BF16 ? 8 : 11, least = type == FloatType::BF16 ? -126 : -14;
  int exponent = std::max(least, std::ilogb(std::max(std::abs(expected), (double)std::abs(actual)) + 1e-300));
  return std::max(0.0, error - std::ldexp(0.5, exponent - digits + 1));
}

} // namespace xlc::test

#endif
