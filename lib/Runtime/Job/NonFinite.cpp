// See NonFinite.h.
#include "NonFinite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace xlc::runtime {
namespace {

/// Calls visit(place, element) for each element in the order of the tensor: `place` counts elements of memory.
template <class Visit> void forEachElement(const plan::ViewT &view, Visit visit) {
  size_t rank = view.sizes.size();
  uint64_t inner = rank > 0 ? view.sizes[rank - 1] : 1, element = 0;
  int64_t step = rank > 0 ? view.strides[rank - 1] : 1;
  if (std::ranges::find(view.sizes, 0u) != view.sizes.end())
    return;
  std::vector<uint64_t> index(rank > 0 ? rank - 1 : 0);
  for (int64_t row = 0;;) {
    for (uint64_t i = 0; i < inner; ++i)
      visit(row + (int64_t)i * step, element++);
    size_t d = index.size();
    for (; d > 0; --d) {
      row += view.strides[d - 1];
      if (++index[d - 1] < view.sizes[d - 1])
        break;
      row -= (int64_t)view.sizes[d - 1] * view.strides[d - 1], index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

/// `exponent`: the bits of one, all set. The others below it are the mantissa, the one above it the sign.
template <class Bits> NonFinite find(const plan::ViewT &view, const char *memory, Bits exponent) {
  const Bits magnitude = (Bits)(exponent | (Bits)(exponent & (Bits)-exponent) - 1);
  NonFinite found;
  Bits largest = 0;
  forEachElement(view, [&](int64_t place, uint64_t element) {
    Bits bits;
    std::memcpy(&bits, memory + place * (int64_t)sizeof bits, sizeof bits);
    bits &= magnitude;
    if (bits < exponent)
      largest = std::max(largest, bits);
    else if (std::optional<uint64_t> &first = bits > exponent ? found.nan : found.infinite; !first)
      first = element;
  });
  found.largest = getNumber(view.element, &largest);
  return found;
}

int64_t placeOf(const plan::ViewT &view, uint64_t element) {
  int64_t place = 0;
  for (size_t d = view.sizes.size(); d > 0; --d) {
    place += (int64_t)(element % view.sizes[d - 1]) * view.strides[d - 1];
    element /= view.sizes[d - 1];
  }
  return place;
}

} // namespace

NonFinite findNonFinite(const plan::ViewT &view, const char *memory) {
  switch (view.element) {
  case plan::Element::F32:
    return find<uint32_t>(view, memory, 0x7f800000);
  case plan::Element::F64:
    return find<uint64_t>(view, memory, 0x7ff0000000000000);
  case plan::Element::BF16:
    return find<uint16_t>(view, memory, 0x7f80);
  case plan::Element::F16:
    return find<uint16_t>(view, memory, 0x7c00);
  default:
    return {};
  }
}

std::string describeIndex(const plan::ViewT &view, uint64_t element) {
  std::vector<uint64_t> index(view.sizes.size());
  for (size_t d = index.size(); d > 0; --d) {
    index[d - 1] = element % view.sizes[d - 1];
    element /= view.sizes[d - 1];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string describeElement(const plan::ViewT &view, const char *memory, uint64_t element) {
  double value = getNumber(view.element, memory + placeOf(view, element) * (int64_t)bytesOf(view.element));
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

} // namespace xlc::runtime
