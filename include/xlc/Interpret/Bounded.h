// A number, and a bound of its error in single precision: the element type with which compiled kernels are verified.
//
// The rules of the interpreter are templates over their elements. With elements of this type they compute, op by op,
// the value in double precision and a bound of the error of a kernel that computes the same ops in floats, for all
// orders of summation: a sum of n terms loses at most (n - 1) u times the sum of their magnitudes, u = 2^-24, to first
// order. A sum therefore counts its terms, and `error()` is the bound for its terms so far. A function loses the stated
// ulps, plus the effect of its argument's error on its value. Functions and products of the same kernel are compared
// with no other data: there is no table of tolerances.
//
// If a comparison could have either result within the bounds, the result for the value is used, and the comparison is
// counted.
#ifndef XLC_INTERPRET_BOUNDED_H
#define XLC_INTERPRET_BOUNDED_H

#include "xlc/Interpret/Element.h"

namespace xlc::interpret {

class Bounded {
public:
  /// Half an ulp of 1 in single precision, with a margin for rounding in the bound itself.
  static constexpr double kUnit = 1.0001 / (1 << 24);
  /// Values below the smallest normal float may be flushed to zero.
  static constexpr double kTiny = 1.2e-38;

  Bounded() = default;
  /// A float: exact.
  explicit Bounded(double value) : Bounded(value, 0) {}
  Bounded(double value, double error) : value(value), own(error), magnitude(std::abs(value)) {}

  double get() const { return value; }
  /// The maximum distance of a float that was computed by the same ops.
  double error() const {
    if (terms == 2) // one rounding, of the sum itself: a difference of equal values is exact
      return own + kUnit * (std::abs(value) + own);
    return terms > 1 ? own + (terms - 1) * kUnit * magnitude : own;
  }
  /// The result of one more operation, where `error` follows from the errors of its arguments.
  static Bounded rounded(double value, double error, double ulps = 1) {
    double more = std::isfinite(value) ? ulps * kUnit * (std::abs(value) + error) : 0;
    return Bounded(value, std::isfinite(value) ? error + more + tiny(std::abs(value)) : 0);
  }
  /// A sum of `count` products; the sum of their values is `value`, that of their magnitudes `magnitude`.
  static Bounded sumOfProducts(double value, double magnitude, double error, double count) {
    Bounded sum(value, error + kUnit * magnitude + count * tiny(magnitude));
    sum.magnitude = magnitude, sum.terms = count;
    return sum;
  }

  friend Bounded operator+(Bounded a, Bounded b) {
    Bounded sum(a.value + b.value, a.own + b.own);
    if (!std::isfinite(sum.value))
      return Bounded(sum.value);
    if (a.isZero() || b.isZero()) // adding zero is exact
      return b.isZero() ? a : b;
    sum.magnitude = a.magnitude + b.magnitude, sum.terms = a.terms + b.terms;
    return sum;
  }
  Bounded operator-() const {
    Bounded negated = *this;
    negated.value = -value;
    return negated;
  }
  friend Bounded operator-(Bounded a, Bounded b) { return a + -b; }
  friend Bounded operator*(Bounded a, Bounded b);
  friend Bounded operator/(Bounded a, Bounded b);
  Bounded &operator+=(Bounded b) { return *this = *this + b; }

  friend bool operator==(Bounded a, Bounded b) { return decide(a, b), a.value == b.value; }
  friend bool operator!=(Bounded a, Bounded b) { return decide(a, b), a.value != b.value; }
  friend bool operator<(Bounded a, Bounded b) { return decide(a, b), a.value < b.value; }
  friend bool operator<=(Bounded a, Bounded b) { return decide(a, b), a.value <= b.value; }
  friend bool operator>(Bounded a, Bounded b) { return b < a; }
  friend bool operator>=(Bounded a, Bounded b) { return b <= a; }

  /// The number of comparisons of this thread that could have had either result, since it started.
  static int64_t &openDecisions();

private:
  /// The additional error of numbers this small.
  static double tiny(double magnitude) { return magnitude != 0 && magnitude < 1e-30 ? kTiny : 0; }
  bool isZero() const { return value == 0 && own == 0 && terms == 1; }
  static void decide(Bounded a, Bounded b) {
    double error = a.error() + b.error();
    if (error > 0 && std::abs(a.value - b.value) <= error)
      ++openDecisions();
  }

  double value = 0;
  double own = 0;       ///< error without that of the sum itself
  double magnitude = 0; ///< of the terms of the sum
  double terms = 1;
};

inline Bounded operator*(Bounded a, Bounded b) {
  double x = a.get(), y = b.get(), ex = a.error(), ey = b.error();
  if ((x == 0 && ex == 0) || (y == 0 && ey == 0))
    return Bounded(x * y);
  if (std::abs(x) == 1 && ex == 0) // exact
    return x > 0 ? b : -b;
  if (std::abs(y) == 1 && ey == 0)
    return y > 0 ? a : -a;
  return Bounded::rounded(x * y, std::abs(x) * ey + std::abs(y) * ex + ex * ey);
}

inline Bounded operator/(Bounded a, Bounded b) {
  double x = a.get(), y = b.get(), ex = a.error(), ey = b.error();
  double nearest = std::abs(y) - ey; // the divisor may be as small as this
  if (nearest <= 0)
    return Bounded(x / y, ey == 0 ? 0 : std::numeric_limits<double>::infinity());
  return Bounded::rounded(x / y, (ex + std::abs(x / y) * ey) / nearest);
}

/// A constant of the program is rounded to a float.
template <> inline Bounded fromDouble<Bounded>(double value) {
  return std::isfinite(value) && std::abs(value) < 3.4e38 ? Bounded(value, std::abs(value - double(float(value))))
                                                          : Bounded(value);
}
template <> inline Bounded fromInteger<Bounded>(int64_t value) { return fromDouble<Bounded>(double(value)); }
template <> int64_t toInteger<Bounded>(Bounded value);
template <> inline bool isUndefined<Bounded>(Bounded value) { return std::isnan(value.get()); }
template <> inline Bounded lowest<Bounded>() { return Bounded(-std::numeric_limits<double>::infinity()); }
template <> inline Bounded highest<Bounded>() { return Bounded(std::numeric_limits<double>::infinity()); }
/// The one of two values that is the larger or the smaller. If they are closer than their errors, this is not an open
/// comparison: the result has the larger of the two errors.
inline Bounded chosen(Bounded a, Bounded b, double value) {
  if (std::abs(a.get() - b.get()) > a.error() + b.error())
    return a.get() == value ? a : b;
  return Bounded(value, std::max(a.error(), b.error()));
}
template <> inline Bounded larger<Bounded>(Bounded a, Bounded b) { return chosen(a, b, larger(a.get(), b.get())); }
template <> inline Bounded smaller<Bounded>(Bounded a, Bounded b) { return chosen(a, b, smaller(a.get(), b.get())); }
/// A double becomes a float.
template <> inline Bounded toSingle<Bounded>(Bounded x) {
  return double(float(x.get())) == x.get() ? x : Bounded::rounded(x.get(), x.error());
}

/// The middle of the range of results for floats within the bounds, and its distance from the ends.
template <> Bounded toNarrow<Bounded>(Bounded x, Narrow to);
/// For any draw: code that only inspects memory does not have the draw of the runtime.
template <> Bounded toNeighbour<Bounded>(Bounded x, Narrow to, uint32_t draw);

/// Squares are summed in double precision: only the result is rounded.
template <> class SquareSum<Bounded> {
public:
  void add(Bounded x) {
    sum += x.get() * x.get();
    error += (2 * std::abs(x.get()) + x.error()) * x.error();
  }
  Bounded get() const { return Bounded::rounded(sum, error); }

private:
  double sum = 0, error = 0;
};

/// The kernels' functions, and their error bounds (lib/Lower/ApproximateMath.cpp, the C library).
template <> class Functions<Bounded> {
public:
  explicit Functions(uint64_t) {}
  Bounded exp(Bounded x) const;
  Bounded log(Bounded x) const;
  Bounded sqrt(Bounded x) const;
  Bounded tanh(Bounded x) const;
  Bounded erf(Bounded x) const;
  Bounded sin(Bounded x) const;
  Bounded cos(Bounded x) const;
  Bounded atan(Bounded x) const;
  Bounded floor(Bounded x) const;
  Bounded pow(Bounded a, Bounded b) const;
};

std::string toString(Bounded value);

} // namespace xlc::interpret

#endif
