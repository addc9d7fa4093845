// Numbers of bytes, FLOPs and times that cannot wrap. Sums and products over legal tensors exceed 64 bits: a step of
// Llama-3 405B over four million tokens is 10^19 FLOPs, and the bytes that 65,536 ranks read together are more. 128
// bits are sufficient for every figure of a plan; a larger Quantity saturates at the largest number.
#ifndef XLC_SUPPORT_QUANTITY_H
#define XLC_SUPPORT_QUANTITY_H

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

namespace xlc {

/// The largest arena, and the largest buffer: offsets and sizes can be added in 64 bits without checking each sum.
inline constexpr int64_t kLargestArena = int64_t(1) << 62;

class Quantity {
  using Wide = __int128;
  static constexpr Wide largest = Wide(~static_cast<unsigned __int128>(0) >> 1);
  struct Exact {
    Wide value;
  };
  constexpr explicit Quantity(Exact exact) : value(exact.value) {}

public:
  constexpr Quantity() = default;
  template <std::integral Integer> constexpr Quantity(Integer value) : value(value) {}

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    Wide sum = 0;
    return Quantity(Exact{__builtin_add_overflow(a.value, b.value, &sum) ? bound(a.value < 0) : sum});
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a + Quantity(Exact{-b.value}); }
  friend constexpr Quantity operator*(Quantity a, Quantity b) {
    Wide product = 0;
    bool wraps = __builtin_mul_overflow(a.value, b.value, &product);
    return Quantity(Exact{wraps ? bound((a.value < 0) != (b.value < 0)) : product});
  }
  /// Rounds towards zero; `b` is not 0.
  friend constexpr Quantity operator/(Quantity a, Quantity b) { return Quantity(Exact{a.value / b.value}); }
  constexpr Quantity &operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity &operator*=(Quantity other) { return *this = *this * other; }
  constexpr Quantity &operator/=(Quantity other) { return *this = *this / other; }

  friend constexpr bool operator==(Quantity a, Quantity b) { return a.value == b.value; }
  friend constexpr std::strong_ordering operator<=>(Quantity a, Quantity b) {
    return a.value < b.value ? std::strong_ordering::less
           : a == b          ? std::strong_ordering::equal
                             : std::strong_ordering::greater;
  }

  constexpr explicit operator bool() const { return value != 0; }
  constexpr explicit operator double() const { return double(value); }

  constexpr bool fitsInt64() const { return clamp() == *this; }
  /// The nearest 64-bit number.
  constexpr int64_t clamp() const {
    constexpr Wide most = std::numeric_limits<int64_t>::max();
    return int64_t(value > most ? most : value < -most - 1 ? -most - 1 : value);
  }
  /// All digits.
  std::string str() const {
    std::string digits;
    bool isNegative = value < 0;
    for (unsigned __int128 rest = isNegative ? -(unsigned __int128)value : value; rest || digits.empty(); rest /= 10)
      digits.insert(digits.begin(), char('0' + int(rest % 10)));
    return isNegative ? "-" + digits : digits;
  }
  friend std::ostream &operator<<(std::ostream &out, Quantity quantity) { return out << quantity.str(); }

private:
  static constexpr Wide bound(bool isNegative) { return isNegative ? -largest : largest; }
  Wide value = 0;
};

} // namespace xlc

#endif
