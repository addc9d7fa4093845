// The element types of the reference interpreter: double, float, or elements of GF(2^61 - 1).
//
// Floating point cannot distinguish a lost gradient from rounding. The field can, because its sums and products are
// exact in every order. Two elements are outside the field: `absent` (minus infinity: exp of it is 0, max ignores it)
// and `undefined` (no inverse, not a number). Functions that a field does not have (exp, sqrt, ...) are fixed
// pseudo-random functions of the element: equivalent programs apply them to the same elements. Rules are templates over
// the element type and use only the declarations in this file.
#ifndef XLC_INTERPRET_ELEMENT_H
#define XLC_INTERPRET_ELEMENT_H

#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace xlc::interpret {

/// An element of GF(2^61 - 1), or `absent`, or `undefined`.
class Field {
public:
  static constexpr uint64_t kPrime = (uint64_t(1) << 61) - 1;

  constexpr Field() = default;
  /// The element that `value` is congruent to.
  static constexpr Field ofUnsigned(uint64_t value) { return Field(value % kPrime); }
  static Field ofInteger(int64_t value);
  /// `value` is k * 2^e and maps exactly; minus infinity is absent, other infinities and NaN undefined.
  static Field ofDouble(double value);
  static constexpr Field absent() { return Field(kPrime); }
  static constexpr Field undefined() { return Field(kPrime + 1); }

  bool isAbsent() const { return value == kPrime; }
  bool isUndefined() const { return value == kPrime + 1; }
  bool isElement() const { return value < kPrime; }
  /// The representative in [0, 2^61 - 1).
  uint64_t representative() const { return value; }
  /// The representative in [-(p-1)/2, (p-1)/2], which defines the order of elements.
  int64_t toSigned() const { return value > kPrime / 2 ? int64_t(value) - int64_t(kPrime) : int64_t(value); }
  /// 1/x; undefined for 0.
  Field inverse() const;

  friend Field operator+(Field a, Field b) {
    return a.isElement() && b.isElement() ? folded(a.value + b.value) : plus(a, b);
  }
  friend Field operator-(Field a, Field b) {
    return a.isElement() && b.isElement() ? folded(a.value + (kPrime - b.value)) : minus(a, b);
  }
  friend Field operator*(Field a, Field b) {
    if (!a.isElement() || !b.isElement())
      return times(a, b);
    auto product = (unsigned __int128)a.value * b.value; // 2^61 = 1
    return folded(uint64_t(product & kPrime) + uint64_t(product >> 61));
  }
  friend Field operator/(Field a, Field b);
  Field operator-() const { return Field() - *this; }
  Field &operator+=(Field b) { return *this = *this + b; }

  friend bool operator==(Field a, Field b) { return a.value == b.value && !a.isUndefined(); }
  friend bool operator!=(Field a, Field b) { return !(a == b); }
  friend bool operator<(Field a, Field b);
  friend bool operator<=(Field a, Field b) { return a < b || a == b; }
  friend bool operator>(Field a, Field b) { return b < a; }
  friend bool operator>=(Field a, Field b) { return b <= a; }

private:
  explicit constexpr Field(uint64_t value) : value(value) {}
  /// For values of less than twice the prime.
  static Field folded(uint64_t value) { return Field(value >= kPrime ? value - kPrime : value); }
  /// For operands of which at least one is outside the field.
  static Field plus(Field a, Field b), minus(Field a, Field b), times(Field a, Field b);

  uint64_t value = 0;
};

/// A divisor of many numbers: in the field its inverse, which is computed once.
template <class E> class Divisor {
public:
  explicit Divisor(E value) : value(value) {}
  friend E operator/(E a, const Divisor &b) { return a / b.value; }

private:
  E value;
};
template <> class Divisor<Field> {
public:
  explicit Divisor(Field value) : value(value), inverse(value.inverse()) {}
  friend Field operator/(Field a, const Divisor &b) {
    return a.isElement() && b.value.isAbsent() ? Field() : a * b.inverse;
  }

private:
  Field value, inverse;
};

/// a[i] = a[i] / b[i]; in the field with one inverse for many elements.
template <class E> void divideEach(E *a, const E *b, size_t count) {
  for (size_t i = 0; i < count; ++i)
    a[i] = a[i] / b[i];
}
template <> void divideEach<Field>(Field *a, const Field *b, size_t count);

/// Conversions between numbers and elements; `toInteger` truncates, and in the field uses the signed representative.
template <class E> E fromDouble(double value) { return E(value); }
template <> inline Field fromDouble<Field>(double value) { return Field::ofDouble(value); }
template <class E> E fromInteger(int64_t value) { return E(value); }
template <> inline Field fromInteger<Field>(int64_t value) { return Field::ofInteger(value); }
template <class E> int64_t toInteger(E value) { return int64_t(value); }
template <> inline int64_t toInteger<Field>(Field value) { return value.toSigned(); }

/// The element after the program converts it to a float. By default it is unchanged: each arithmetic keeps its full
/// precision.
template <class E> E toSingle(E value) { return value; }

/// Sixteen-bit types in which the program stores floats: to nearest, ties to even.
enum class Narrow { BF16, F16 };
template <class E> E toNarrow(E value, Narrow) { return value; }
template <> float toNarrow<float>(float value, Narrow to);
/// One of the two neighbours in sixteen bits, selected by sixteen random bits.
template <class E> E toNeighbour(E value, Narrow, uint32_t) { return value; }
template <> float toNeighbour<float>(float value, Narrow to, uint32_t draw);
class Bounded;
/// Whether an arithmetic is that of floats, or bounds it. The others define the meaning of a program, not its rounding.
template <class E> constexpr bool kRounds = std::is_same_v<E, float> || std::is_same_v<E, Bounded>;

/// Not a number, or undefined.
template <class E> bool isUndefined(E value) { return value != value; }
template <> inline bool isUndefined<Field>(Field value) { return value.isUndefined(); }

/// The max of no elements; `highest` is the min.
template <class E> E lowest() { return -std::numeric_limits<E>::infinity(); }
template <> inline Field lowest<Field>() { return Field::absent(); }
template <> inline int64_t lowest<int64_t>() { return std::numeric_limits<int64_t>::min(); }

template <class E> E highest() { return std::numeric_limits<E>::infinity(); }
template <> inline Field highest<Field>() { return Field::ofUnsigned(Field::kPrime / 2); }
template <> inline int64_t highest<int64_t>() { return std::numeric_limits<int64_t>::max(); }

/// The larger or smaller of two; undefined operands propagate.
template <class E> E larger(E a, E b) { return isUndefined(a) || a > b ? a : b; }
template <class E> E smaller(E a, E b) { return isUndefined(a) || a < b ? a : b; }

/// Sums of products; in the field they are reduced only before the 128 bits would overflow.
template <class E> class ProductSum {
public:
  void add(E a, E b) { sum += a * b; }
  E get() const { return sum; }

private:
  E sum{};
};
template <> class ProductSum<Field> {
public:
  void add(Field a, Field b) {
    if (!a.isElement() || !b.isElement()) {
      special += a * b;
      return;
    }
    sum += (unsigned __int128)a.representative() * b.representative();
    if (sum >> 126)
      sum %= Field::kPrime;
  }
  Field get() const { return Field::ofUnsigned(uint64_t(sum % Field::kPrime)) + special; }

private:
  unsigned __int128 sum = 0;
  Field special;
};

/// Sums of squares; for floats in double precision.
template <class E> class SquareSum {
public:
  void add(E x) { sum.add(x, x); }
  E get() const { return E(sum.get()); }

private:
  ProductSum<std::conditional_t<std::is_same_v<E, float>, double, E>> sum;
};

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// A fixed pseudo-random 64-bit function of a name, a seed and a number.
uint64_t hashOf(llvm::StringRef name, uint64_t seed, uint64_t number);
/// The same in two steps, for many numbers of one name.
uint64_t keyOf(llvm::StringRef name, uint64_t seed);
inline uint64_t hashOf(uint64_t key, uint64_t number) { return mix(key ^ mix(number + 0x9e3779b97f4a7c15u)); }

/// The functions other than sums, products and quotients.
template <class E> class Functions {
public:
  explicit Functions(uint64_t) {}
  E exp(E x) const { return std::exp(x); }
  E log(E x) const { return std::log(x); }
  E sqrt(E x) const { return std::sqrt(x); }
  E tanh(E x) const { return std::tanh(x); }
  E erf(E x) const { return std::erf(x); }
  E sin(E x) const { return std::sin(x); }
  E cos(E x) const { return std::cos(x); }
  E atan(E x) const { return std::atan(x); }
  E floor(E x) const { return std::floor(x); }
  E pow(E a, E b) const { return std::pow(a, b); }
};
template <> class Functions<Field> {
public:
  explicit Functions(uint64_t seed);
  Field exp(Field x) const { return x.isAbsent() ? Field() : random(ofExp, x); }
  Field log(Field x) const { return random(ofLog, x); }
  Field sqrt(Field x) const { return random(ofSqrt, x); }
  Field tanh(Field x) const { return random(ofTanh, x); }
  Field erf(Field x) const { return random(ofErf, x); }
  Field sin(Field x) const { return random(ofSin, x); }
  Field cos(Field x) const { return random(ofCos, x); }
  Field atan(Field x) const { return random(ofAtan, x); }
  Field floor(Field x) const { return random(ofFloor, x); }
  Field pow(Field a, Field b) const { return random(ofPow, random(ofBase, a) + b); }

private:
  static Field random(uint64_t key, Field x) {
    return x.isElement() ? Field::ofUnsigned(hashOf(key, x.representative())) : Field::undefined();
  }
  uint64_t ofExp, ofLog, ofSqrt, ofTanh, ofErf, ofSin, ofCos, ofAtan, ofFloor, ofPow, ofBase; ///< keys
};

/// In human-readable form: reals with six digits; field elements by their signed representative, `-inf` when absent,
/// `nan` when undefined.
std::string toString(double value);
std::string toString(Field value);
std::string toString(int64_t value);

} // namespace xlc::interpret

#endif
