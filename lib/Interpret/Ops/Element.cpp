// Arithmetic of GF(2^61 - 1) with the two elements outside it, and its pseudo-random functions.
#include "xlc/Interpret/Element.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc::interpret;

/// x^exponent by squaring.
Field Field::ofInteger(int64_t value) {
  return value < 0 ? -ofUnsigned(uint64_t(0) - uint64_t(value)) : ofUnsigned(uint64_t(value));
}

Field Field::ofDouble(double value) {
  if (std::isinf(value) && value < 0)
    return absent();
  if (!std::isfinite(value))
    return undefined();
  int exponent;
  double mantissa = std::frexp(value, &exponent); // in [0.5, 1), so 53 bits make it whole
  Field k = ofInteger(int64_t(std::ldexp(mantissa, 53)));
  // 2 has order 61: 2^61 = 1 (mod 2^61 - 1), so negative exponents need no inverse.
  int64_t shift = ((exponent - 53) % 61 + 61) % 61;
  return k * ofUnsigned(uint64_t(1) << shift);
}

Field Field::inverse() const {
  if (!isElement() || value == 0)
    return undefined();
  // x^(p - 2) with p = 2^61 - 1, by powers x^(2^k - 1): ten products beside the squares, instead of 59.
  static_assert(kPrime == (uint64_t(1) << 61) - 1);
  auto squared = [](Field x, int times) {
    for (int i = 0; i < times; ++i)
      x = x * x;
    return x;
  };
  Field one = *this, two = squared(one, 1) * one, four = squared(two, 2) * two, eight = squared(four, 4) * four;
  Field sixteen = squared(eight, 8) * eight, most = squared(squared(sixteen, 16) * sixteen, 16) * sixteen; // 48
  most = squared(squared(squared(most, 8) * eight, 2) * two, 1) * one;                                     // 59
  return squared(most, 2) * one;
}

Field Field::plus(Field a, Field b) { return a.isUndefined() || b.isUndefined() ? undefined() : absent(); }

Field Field::minus(Field a, Field b) { return a.isAbsent() && b.isElement() ? absent() : undefined(); }

Field Field::times(Field a, Field b) {
  bool isNaN = a.isUndefined() || b.isUndefined() || a.value == 0 || b.value == 0;
  return isNaN ? undefined() : absent();
}

namespace xlc::interpret {

Field operator/(Field a, Field b) {
  if (a.isElement() && b.isAbsent())
    return Field();
  return a * b.inverse();
}

bool operator<(Field a, Field b) {
  if (a.isUndefined() || b.isUndefined() || b.isAbsent())
    return false;
  return a.isAbsent() || a.toSigned() < b.toSigned();
}

} // namespace xlc::interpret

uint64_t xlc::interpret::keyOf(llvm::StringRef name, uint64_t seed) {
  uint64_t state = mix(seed + 0x9e3779b97f4a7c15u);
  for (unsigned char letter : name)
    state = mix(state + letter + 1);
  return state;
}

uint64_t xlc::interpret::hashOf(llvm::StringRef name, uint64_t seed, uint64_t number) {
  return hashOf(keyOf(name, seed), number);
}

Functions<Field>::Functions(uint64_t seed)
    : ofExp(keyOf("exp", seed)), ofLog(keyOf("log", seed)), ofSqrt(keyOf("sqrt", seed)), ofTanh(keyOf("tanh", seed)),
      ofErf(keyOf("erf", seed)), ofSin(keyOf("sin", seed)), ofCos(keyOf("cos", seed)), ofAtan(keyOf("atan", seed)),
      ofFloor(keyOf("floor", seed)), ofPow(keyOf("pow", seed)), ofBase(keyOf("base", seed)) {}

/// The inverse of a product gives those of its factors (P. Montgomery, 1987).
template <> void xlc::interpret::divideEach<Field>(Field *a, const Field *b, size_t count) {
  auto isRegular = [](Field x) { return x.isElement() && x != Field(); };
  constexpr size_t length = 256;
  Field before[length]; // the product of those before each
  for (size_t first = 0; first < count; first += length) {
    size_t last = std::min(count, first + length);
    Field product = Field::ofUnsigned(1);
    for (size_t i = first; i < last; ++i) {
      before[i - first] = product;
      if (isRegular(b[i]))
        product = product * b[i];
    }
    Field inverse = product.inverse();
    for (size_t i = last; i-- > first;) {
      if (!isRegular(b[i])) {
        a[i] = a[i] / b[i];
        continue;
      }
      a[i] = a[i] * (inverse * before[i - first]);
      inverse = inverse * b[i];
    }
  }
}

std::string xlc::interpret::toString(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

std::string xlc::interpret::toString(Field value) {
  if (value.isElement())
    return llvm::itostr(value.toSigned());
  return value.isAbsent() ? "-inf" : "nan";
}

std::string xlc::interpret::toString(int64_t value) { return llvm::itostr(value); }
