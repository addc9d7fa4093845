// See ElementOperations.h.
#include "ElementOperations.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace xlc::runtime {
namespace {

constexpr uint64_t block = 2048; // elements combined at once, in L1

struct Sum {
  template <class T> static T combine(T a, T b) { return a + b; }
};
/// What is not a number stays.
struct Largest {
  template <class T> static T combine(T a, T b) { return a > b || a != a ? a : b; }
};

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

/// By type, as plan::Element numbers them; truth values and sixteen bits have none.
constexpr struct {
  CombineRange sum, largest;
} operations[] = {{combineRange<Sum, float>, combineRange<Largest, float>},
                  {combineRange<Sum, double>, combineRange<Largest, double>},
                  {combineRange<Sum, int64_t>, combineRange<Largest, int64_t>},
                  {combineRange<Sum, int32_t>, combineRange<Largest, int32_t>},
                  {nullptr, nullptr},
                  {nullptr, nullptr},
                  {nullptr, nullptr}};
static_assert(std::size(operations) == (size_t)plan::Element::MAX + 1);

} // namespace

CombineRange findCombination(Combine how, plan::Element element) {
  const auto &row = operations[(size_t)element];
  CombineRange found = how == Combine::Sum ? row.sum : row.largest;
  if (!found)
    throw std::invalid_argument("elements of this type have no sum");
  return found;
}

} // namespace xlc::runtime
