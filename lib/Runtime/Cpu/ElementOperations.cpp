// See ElementOperations.h.
#include "ElementOperations.h"
#include "xlc/Runtime/Combining.h"
#include "xlc/Runtime/Narrow.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace xlc::runtime {
namespace {

constexpr uint64_t block = 2048; // elements combined at once, in L1

template <class How, class T> void combineBlock(T *to, const T *from, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    to[i] = How::combine(to[i], from[i]);
}

template <class How, class T>
void combineRange(std::span<const char *const> sources, uint64_t from, uint64_t count, char *bytes, bool add) {
  T *to = (T *)bytes, combined[block];
  for (uint64_t i = 0; i < count; i += block) {
    uint64_t some = std::min(block, count - i);
    std::memcpy(combined, (const T *)sources[0] + from + i, some * sizeof(T));
    for (size_t s = 1; s < sources.size(); ++s)
      combineBlock<How>(combined, (const T *)sources[s] + from + i, some);
    if (add)
      combineBlock<Sum>(to + i, combined, some);
    else
      std::memcpy(to + i, combined, some * sizeof(T));
  }
}

/// The same for sixteen bits, which are widened, combined as floats and rounded once: not at every rank.
template <class How, float widen(uint16_t), uint16_t narrow(float)>
void combineNarrow(std::span<const char *const> sources, uint64_t from, uint64_t count, char *bytes, bool add) {
  auto *to = (uint16_t *)bytes;
  float combined[block], next[block];
  for (uint64_t i = 0; i < count; i += block) {
    uint64_t some = std::min(block, count - i);
    auto widenBlock = [&](const uint16_t *elements, float *wide) {
      for (uint64_t k = 0; k < some; ++k)
        wide[k] = widen(elements[k]);
    };
    widenBlock((const uint16_t *)sources[0] + from + i, combined);
    for (size_t s = 1; s < sources.size(); ++s) {
      widenBlock((const uint16_t *)sources[s] + from + i, next);
      combineBlock<How>(combined, next, some);
    }
    if (add) {
      widenBlock(to + i, next);
      combineBlock<Sum>(combined, next, some);
    }
    for (uint64_t k = 0; k < some; ++k)
      to[i + k] = narrow(combined[k]);
  }
}

/// Sums of floats that cross in sixteen bits.
template <float widen(uint16_t), uint16_t narrow(float)>
void sumCrossing(std::span<const char *const> sources, uint64_t from, uint64_t count, char *bytes, bool add) {
  auto *to = (float *)bytes;
  for (uint64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (size_t s = 0; s < sources.size(); ++s) {
      float term = widen(narrow(((const float *)sources[s])[from + i]));
      sum = s ? sum + term : term;
    }
    sum = widen(narrow(sum));
    to[i] = add ? to[i] + sum : sum;
  }
}

template <class From, class To, To convert(From)> void convertRange(const char *from, uint64_t count, char *to) {
  for (uint64_t i = 0; i < count; ++i)
    ((To *)to)[i] = convert(((const From *)from)[i]);
}

/// By type, as plan::Element numbers them; truth values have none.
constexpr struct {
  CombineRange sum, largest;
} operations[] = {{combineRange<Sum, float>, combineRange<Largest, float>},
                  {combineRange<Sum, double>, combineRange<Largest, double>},
                  {combineRange<Sum, int64_t>, combineRange<Largest, int64_t>},
                  {combineRange<Sum, int32_t>, combineRange<Largest, int32_t>},
                  {nullptr, nullptr},
                  {combineNarrow<Sum, fromBf16, toBf16>, combineNarrow<Largest, fromBf16, toBf16>},
                  {combineNarrow<Sum, fromHalf, toHalf>, combineNarrow<Largest, fromHalf, toHalf>}};
static_assert(std::size(operations) == (size_t)plan::Element::MAX + 1);

} // namespace

CombineRange findCombination(Combine how, plan::Element element, plan::Element wire) {
  if (wire != element) {
    bool isFloat = how == Combine::Sum && element == plan::Element::F32;
    if (isFloat && wire == plan::Element::BF16)
      return sumCrossing<fromBf16, toBf16>;
    if (isFloat && wire == plan::Element::F16)
      return sumCrossing<fromHalf, toHalf>;
    throw std::invalid_argument("elements of this type cannot be exchanged as another type");
  }
  const auto &row = operations[(size_t)element];
  CombineRange found = how == Combine::Sum ? row.sum : row.largest;
  if (!found)
    throw std::invalid_argument("elements of this type cannot be summed");
  return found;
}

ConvertRange findConversion(plan::Element element, plan::Element other) {
  using plan::Element;
  constexpr struct {
    Element element, other;
    ConvertRange convert;
  } rows[] = {{Element::F32, Element::BF16, convertRange<float, uint16_t, toBf16>},
              {Element::F32, Element::F16, convertRange<float, uint16_t, toHalf>},
              {Element::BF16, Element::F32, convertRange<uint16_t, float, fromBf16>},
              {Element::F16, Element::F32, convertRange<uint16_t, float, fromHalf>}};
  for (const auto &row : rows)
    if (row.element == element && row.other == other)
      return row.convert;
  throw std::invalid_argument("elements of this type cannot be exchanged as another type");
}

} // namespace xlc::runtime
