// Functions of bounded numbers. The error of a function's value is the largest slope within the argument's error, times
// that error.
#include "xlc/Interpret/Bounded.h"

using namespace xlc::interpret;

int64_t &Bounded::openDecisions() {
  thread_local int64_t count = 0;
  return count;
}

namespace xlc::interpret {

template <> int64_t toInteger<Bounded>(Bounded x) {
  if (x.error() > 0 && std::trunc(x.get() - x.error()) != std::trunc(x.get() + x.error()))
    ++Bounded::openDecisions();
  return int64_t(x.get());
}

std::string toString(Bounded value) { return toString(value.get()); }

} // namespace xlc::interpret

using BoundedFunctions = xlc::interpret::Functions<Bounded>;

Bounded BoundedFunctions::exp(Bounded x) const {
  double y = std::exp(x.get());
  return Bounded::rounded(y, y == 0 ? 0 : y * std::expm1(x.error()), 4);
}

Bounded BoundedFunctions::log(Bounded x) const {
  double nearest = x.get() - x.error();
  if (nearest <= 0)
    return Bounded(std::log(x.get()), x.error() == 0 ? 0 : std::numeric_limits<double>::infinity());
  return Bounded::rounded(std::log(x.get()), x.error() / nearest, 4);
}

Bounded BoundedFunctions::sqrt(Bounded x) const {
  double y = std::sqrt(x.get()), least = std::sqrt(std::max(0.0, x.get() - x.error()));
  return Bounded::rounded(y, x.error() == 0 ? 0 : x.error() / (y + least), 1);
}

Bounded BoundedFunctions::tanh(Bounded x) const {
  double y = std::tanh(x.get()), nearest = std::max(0.0, std::abs(x.get()) - x.error()), slope = std::cosh(nearest);
  return Bounded::rounded(y, x.error() / (slope * slope), 4);
}

Bounded BoundedFunctions::erf(Bounded x) const {
  double nearest = std::max(0.0, std::abs(x.get()) - x.error());
  return Bounded::rounded(std::erf(x.get()), x.error() * 1.1283792 * std::exp(-nearest * nearest), 8);
}

Bounded BoundedFunctions::sin(Bounded x) const { return Bounded::rounded(std::sin(x.get()), x.error(), 4); }
Bounded BoundedFunctions::cos(Bounded x) const { return Bounded::rounded(std::cos(x.get()), x.error(), 4); }
Bounded BoundedFunctions::atan(Bounded x) const { return Bounded::rounded(std::atan(x.get()), x.error(), 8); }

Bounded BoundedFunctions::floor(Bounded x) const {
  if (x.error() > 0 && std::floor(x.get() - x.error()) != std::floor(x.get() + x.error()))
    ++Bounded::openDecisions();
  return Bounded(std::floor(x.get()));
}

Bounded BoundedFunctions::pow(Bounded a, Bounded b) const {
  double y = std::pow(a.get(), b.get()), nearest = std::abs(a.get()) - a.error();
  if (a.error() == 0 && b.error() == 0)
    return Bounded::rounded(y, 0, 4);
  if (nearest <= 0)
    return Bounded(y, std::numeric_limits<double>::infinity());
  double turn = std::abs(b.get()) * a.error() / nearest + std::abs(std::log(nearest)) * b.error();
  return Bounded::rounded(y, std::abs(y) * std::expm1(turn), 4);
}
