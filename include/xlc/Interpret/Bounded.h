// A number, and how far single precision may be from it: the element with which compiled kernels are judged.
//
// The rules of the interpreter are templates over their elements. Run on elements of this type they compute, op by op,
// the value in double precision and a bound of what a kernel that computes the same ops in floats may lose, in whatever
// order it sums: a sum of n terms loses at most (n - 1) u times the sum of their magnitudes, u = 2^-24, to first order.
// So a sum keeps count of its terms, and `error()` is what became of them so far. A function loses the stated ulps, and
// what its argument's error makes of its value. Functions and products of the same kernel are compared with nothing
// else: there is no table of tolerances.
//
// Where a comparison could fall out either way within the bounds, the value's way is taken and counted.
#ifndef XLC_INTERPRET_BOUNDED_H
#define XLC_INTERPRET_BOUNDED_H

#include "xlc/Interpret/Element.h"

namespace xlc::interpret {

class Bounded {
public:
  /// Half an ulp of 1 in single precision, with room for rounding in the bound itself.
  static constexpr double kUnit = 1.0001 / (1 << 24);
  /// What lies below the smallest normal float may be taken for zero.
  static constexpr double kTiny = 1.2e-38;

  Bounded() = default;
  /// A float: exact.
  explicit Bounded(double value) : Bounded(value, 0) {}
  Bounded(double value, double error) : value(value), own(error), magnitude(std::abs(value)) {}

  double get() const { return value; }
  /// At most this far is a float that was computed by the same ops.
  double error() const {
    if (terms == 2) // one rounding, of the sum itself: a difference of equals is exact
      return own + kUnit * (std::abs(value) + own);
    return terms > 1 ? own + (terms - 1) * kUnit * magnitude : own;
  }
  /// The result of one more operation whose arguments' errors made `error` of it.
  static Bounded rounded(double value, double error, double ulps = 1) {
    double more = std::isfinite(value) ? ulps * kUnit * (std::abs(value) + error) : 0;
    return Bounded(value, std::isfinite(value) ? error + more + tiny(std::abs(value)) : 0);
  }
  /// A sum of `count` products whose values sum to `value` and whose magnitudes to `magnitude`.
  static Bounded sumOfProducts(double value, double magnitude, double error, double count) {
    Bounded sum(value, error + kUnit * magnitude + count * tiny(magnitude));
    sum.magnitude = magnitude, sum.terms = count;
    return sum;
  }

  friend Bounded operator+(Bounded a, Bounded b) {
    Bounded sum(a.value + b.value, a.own + b.own);
    if (!std::isfinite(sum.value))
      return Bounded(sum.value);
    if (a.isZero() || b.isZero()) // adding nothing rounds nothing
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

  /// Comparisons of this thread that could have fallen out either way, since it began.
  static int64_t &openDecisions();

private:
  /// What is lost beside ulps where numbers are so small.
  static double tiny(double magnitude) { return magnitude != 0 && magnitude < 1e-30 ? kTiny : 0; }
  bool isZero() const { return value == 0 && own == 0 && terms == 1; }
  static void decide(Bounded a, Bounded b) {
    double error = a.error() + b.error();
    if (error > 0 && std::abs(a.value - b.value) <= error)
      ++openDecisions();
  }

  double value = 0;
  double own = 0;       ///< but for the sum that this is
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
/// The one of two that is further in a direction: nothing is decided where they are closer than their errors, the
/// result is as far off as the worse of the two.
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

/// The middle of what a float within the bounds may become, and how far it is from there.
template <> Bounded toNarrow<Bounded>(Bounded x, Narrow to);
/// Any draw: who looks at memory does not know which the runtime drew.
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

/// The kernels' functions, and what they may lose (lib/Lower/ApproximateMath.cpp, the C library).
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
