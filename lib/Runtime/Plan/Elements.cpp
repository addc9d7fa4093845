// See Elements.h. Elements are copied in both directions, because memory of a plan need not be aligned for its type.
#include "Elements.h"
#include "Failure.h"
#include "xlc/Runtime/Narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace xlc::runtime {
namespace {

template <class T> void put(double value, void *elements, uint64_t index) {
  T element = (T)value;
  std::memcpy((char *)elements + index * sizeof(T), &element, sizeof(T));
}
template <class T> double get(const void *elements, uint64_t index) {
  T element;
  std::memcpy(&element, (const char *)elements + index * sizeof(T), sizeof(T));
  return (double)element;
}

} // namespace

constexpr struct {
  const char *name;
  uint64_t bytes;
} types[] = {{"F32", 4}, {"F64", 8}, {"I64", 8}, {"I32", 4}, {"BOOL", 1}, {"BF16", 2}, {"F16", 2}};
static_assert(std::size(types) == (size_t)plan::Element::MAX + 1);

/// A file may say what no type is: its reader asks for types before it has checked them all.
static const auto &typeOf(plan::Element element) {
  if (element > plan::Element::MAX)
    throw Rejected(fmt::format("error: the plan has elements of type {}, but types are numbered 0 to {}", (int)element,
                               (int)plan::Element::MAX));
  return types[(size_t)element];
}

const char *nameOf(plan::Element element) { return typeOf(element).name; }
uint64_t bytesOf(plan::Element element) { return typeOf(element).bytes; }

std::optional<plan::Element> findElement(std::string_view name) {
  const auto *found = std::ranges::find(types, name, [](const auto &type) { return std::string_view(type.name); });
  return found == std::end(types) ? std::nullopt : std::optional((plan::Element)(found - std::begin(types)));
}

void putNumber(plan::Element element, double value, void *elements, uint64_t index) {
  switch (element) {
  case plan::Element::F32:
    return put<float>(value, elements, index);
  case plan::Element::F64:
    return put<double>(value, elements, index);
  case plan::Element::I64:
    return put<int64_t>(value, elements, index);
  case plan::Element::I32:
    return put<int32_t>(value, elements, index);
  case plan::Element::I1:
    return put<uint8_t>(value, elements, index);
  case plan::Element::BF16:
    return put<uint16_t>(toBf16((float)value), elements, index);
  case plan::Element::F16:
    return put<uint16_t>(toHalf((float)value), elements, index);
  }
}

double getNumber(plan::Element element, const void *elements, uint64_t index) {
  switch (element) {
  case plan::Element::F32:
    return get<float>(elements, index);
  case plan::Element::F64:
    return get<double>(elements, index);
  case plan::Element::I64:
    return get<int64_t>(elements, index);
  case plan::Element::I32:
    return get<int32_t>(elements, index);
  case plan::Element::I1:
    return get<uint8_t>(elements, index);
  case plan::Element::BF16:
    return fromBf16((uint16_t)get<uint16_t>(elements, index));
  case plan::Element::F16:
    return fromHalf((uint16_t)get<uint16_t>(elements, index));
  }
  return 0;
}

std::vector<char> convert(plan::Element from, const void *elements, uint64_t count, plan::Element to) {
  std::vector<char> converted(count * bytesOf(to));
  for (uint64_t i = 0; i < count; ++i)
    putNumber(to, getNumber(from, elements, i), converted.data(), i);
  return converted;
}

uint64_t spanOf(const plan::ViewT &view) {
  uint64_t last = 0;
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] == 0)
      return 0;
    last += (view.sizes[d] - 1) * (uint64_t)view.strides[d];
  }
  return (last + 1) * bytesOf(view.element);
}

} // namespace xlc::runtime
