// Arithmetic of GF(2^61 - 1) with the two elements outside it, and its pseudo-random functions.
#include "xlc/Interpret/Element.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace xlc::interpret;

/// x^exponent by squaring.
static Field power(Field x, uint64_t exponent) {
  Field result = Field::ofUnsigned(1);
  for (; exponent; exponent >>= 1, x = x * x)
    if (exponent & 1)
      result = result * x;
  return result;
}

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
  return power(*this, kPrime - 2);
}

namespace xlc::interpret {

Field operator+(Field a, Field b) {
  if (a.isElement() && b.isElement()) {
    uint64_t sum = a.value + b.value;
    return Field(sum >= Field::kPrime ? sum - Field::kPrime : sum);
  }
  return a.isUndefined() || b.isUndefined() ? Field::undefined() : Field::absent();
}

Field operator-(Field a, Field b) {
  if (a.isElement() && b.isElement())
    return Field(a.value >= b.value ? a.value - b.value : a.value + Field::kPrime - b.value);
  return a.isAbsent() && b.isElement() ? Field::absent() : Field::undefined();
}

Field operator*(Field a, Field b) {
  if (a.isElement() && b.isElement()) {
    unsigned __int128 product = (unsigned __int128)a.value * b.value;
    return Field::ofUnsigned(uint64_t(product & Field::kPrime) + uint64_t(product >> 61));
  }
  bool isNaN = a.isUndefined() || b.isUndefined() || a.value == 0 || b.value == 0;
  return isNaN ? Field::undefined() : Field::absent();
}

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

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t xlc::interpret::keyOf(llvm::StringRef name, uint64_t seed) {
  uint64_t state = mix(seed + 0x9e3779b97f4a7c15u);
  for (unsigned char letter : name)
    state = mix(state + letter + 1);
  return state;
}

uint64_t xlc::interpret::hashOf(uint64_t key, uint64_t number) { return mix(key ^ mix(number + 0x9e3779b97f4a7c15u)); }

uint64_t xlc::interpret::hashOf(llvm::StringRef name, uint64_t seed, uint64_t number) {
  return hashOf(keyOf(name, seed), number);
}

Field Functions<Field>::random(llvm::StringRef name, Field x) const {
  return x.isElement() ? Field::ofUnsigned(hashOf(name, seed, x.representative())) : Field::undefined();
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
