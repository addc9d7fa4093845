// Floats that the program stores in 16-bit types. Rules compute in the full precision of their arithmetic; their
// results are rounded here, so that an op whose result is narrow needs no rule of its own.
#include "xlc/Runtime/Narrow.h"
#include "Rules.h"
#include "xlc/Interpret/Parallel.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <> float interpret::toNarrow<float>(float value, Narrow to) {
  llvm::APFloat number(value);
  bool isInexact = false;
  number.convert(to == Narrow::BF16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToFloat();
}

template <> float interpret::toNeighbour<float>(float value, Narrow to, uint32_t draw) {
  return to == Narrow::BF16 ? runtime::toBf16Neighbour(value, draw) : runtime::toHalfNeighbour(value, draw);
}

/// Anything from `low` to `high`, which are rounded.
static Bounded between(double low, double high, double value) {
  if (low == high)
    return Bounded(low);
  if (!std::isfinite(low) || !std::isfinite(high))
    return Bounded(value, std::numeric_limits<double>::infinity());
  double middle = (low + high) / 2, error = std::max(high - middle, middle - low);
  bool isExact = middle - error == low && middle + error == high;
  return Bounded(middle, isExact ? error : std::nextafter(error, high - low));
}

/// Rounding keeps the order of numbers: the ends of what a kernel may have tell what it may round to, which mostly is one
/// number. So a number that is rounded already stays as it is, and its bound too.
template <> Bounded interpret::toNarrow<Bounded>(Bounded x, Narrow to) {
  if (!std::isfinite(x.get()))
    return Bounded(x.get());
  return between(toNarrow(float(x.get() - x.error()), to), toNarrow(float(x.get() + x.error()), to), x.get());
}

template <> Bounded interpret::toNeighbour<Bounded>(Bounded x, Narrow to, uint32_t) {
  if (!std::isfinite(x.get()))
    return Bounded(x.get());
  auto neighbour = [&](double end, uint32_t draw) { return toNeighbour(float(end), to, draw); };
  double first = x.get() - x.error(), last = x.get() + x.error();
  return between(std::min(neighbour(first, 0), neighbour(first, 0xffff)),
                 std::max(neighbour(last, 0), neighbour(last, 0xffff)), x.get());
}

std::optional<Narrow> interpret::findNarrow(Type element) {
  if (element.isBF16())
    return Narrow::BF16;
  return element.isF16() ? std::optional(Narrow::F16) : std::nullopt;
}

namespace xlc::interpret {

template <class E> void roundTo(Type element, MutableArrayRef<E> elements) {
  std::optional<Narrow> narrow = findNarrow(element);
  if constexpr (kRounds<E>)
    if (narrow)
      forEachPiece(elements.size(), [&](int64_t first, int64_t count) {
        for (E &x : elements.slice(first, count))
          x = toNarrow<E>(x, *narrow);
      });
}

template <class E> LogicalResult apply(Rule<E> rule, Evaluation<E> &e) {
  if (failed(rule(e)))
    return failure();
  for (auto [value, result] : llvm::zip(e.op->getResults(), e.results))
    roundTo(getElementTypeOrSelf(value), result);
  return success();
}

#define XLC_INSTANTIATE(E)                                                                                             \
  template void roundTo(Type, MutableArrayRef<E>);                                                                     \
  template LogicalResult apply(Rule<E>, Evaluation<E> &)
XLC_INSTANTIATE(double);
XLC_INSTANTIATE(float);
XLC_INSTANTIATE(Bounded);
XLC_INSTANTIATE(Field);

} // namespace xlc::interpret
