// See Elements.h. Elements are copied to and fro, since memory of a plan need not be aligned for its type.
#include "Elements.h"

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

const char *nameOf(plan::Element element) {
  constexpr const char *names[] = {"F32", "F64", "I64", "I32", "BOOL"};
  static_assert(std::size(names) == (size_t)plan::Element::MAX + 1);
  return names[(size_t)element];
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
  }
  return 0;
}

} // namespace xlc::runtime
