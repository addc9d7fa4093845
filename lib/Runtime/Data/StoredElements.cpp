// See StoredElements.h.
#include "StoredElements.h"

#include "xlc/Runtime/Narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace xlc::runtime {
namespace {

template <class T> T readAt(const char *from, uint64_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

/// A byte that says true or false, by 1 or by another number.
struct Truth {
  uint8_t byte;
  template <class To> explicit operator To() const { return (To)(byte != 0); }
};

/// Calls work(T()) with the C++ type of the elements of a file.
template <class Work> auto withType(StoredType type, const Work &work) {
  switch (type) { // NOLINTBEGIN(bugprone-branch-clone): each call is of another type
  case StoredType::F32:
    return work(float());
  case StoredType::F64:
    return work(double());
  case StoredType::F16:
    return work(Half());
  case StoredType::I8:
    return work(int8_t());
  case StoredType::I16:
    return work(int16_t());
  case StoredType::I32:
    return work(int32_t());
  case StoredType::I64:
    return work(int64_t());
  case StoredType::U8:
    return work(uint8_t());
  case StoredType::U16:
    return work(uint16_t());
  case StoredType::U32:
    return work(uint32_t());
  case StoredType::Bool:
    break;
  } // NOLINTEND(bugprone-branch-clone)
  return work(Truth());
}

template <class From, class To> To convertOne(From value) {
  if constexpr (std::is_same_v<From, Half>)
    return (To)(float)value;
  else
    return (To)value;
}

template <class To> void convertEach(StoredType type, const char *from, uint64_t count, char *to) {
  withType(type, [&](auto example) {
    using From = decltype(example);
    for (uint64_t i = 0; i < count; ++i) {
      To value = convertOne<From, To>(readAt<From>(from, i));
      std::memcpy(to + i * sizeof(To), &value, sizeof(To));
    }
  });
}

} // namespace

bool isStoredAs(StoredType type, plan::Element element) {
  switch (element) {
  case plan::Element::F32:
    return type == StoredType::F32;
  case plan::Element::F64:
    return type == StoredType::F64;
  case plan::Element::I32:
    return type == StoredType::I32;
  case plan::Element::I64:
    return type == StoredType::I64;
  default:
    return false;
  }
}

void convertStored(StoredType type, const char *from, uint64_t count, plan::Element element, char *to) {
  switch (element) {
  case plan::Element::F32:
    return convertEach<float>(type, from, count, to);
  case plan::Element::F64:
    return convertEach<double>(type, from, count, to);
  case plan::Element::I64:
    return convertEach<int64_t>(type, from, count, to);
  case plan::Element::I32:
    return convertEach<int32_t>(type, from, count, to);
  case plan::Element::I1:
    return convertEach<bool>(type, from, count, to);
  case plan::Element::BF16:
  case plan::Element::F16:
    break; // checkPlan lets no input be of sixteen bits
  }
}

uint64_t findNaN(StoredType type, const char *elements, uint64_t count) {
  if (!isFloat(type))
    return count;
  return withType(type, [&](auto example) {
    using From = decltype(example);
    uint64_t i = 0;
    if constexpr (!std::is_same_v<From, Truth>)
      while (i < count && !std::isnan(convertOne<From, double>(readAt<From>(elements, i))))
        ++i;
    return i;
  });
}

IdRule::IdRule(const plan::InputT &input, StoredType type) : input(input), type(type) {
  bool narrows = input.element == plan::Element::I32 && (type == StoredType::I64 || type == StoredType::U32);
  isRead = isInteger(type) && (input.has_limit || narrows);
  if (narrows)
    first = INT32_MIN, last = INT32_MAX;
  if (input.has_limit)
    first = 0, last = std::min(last, input.limit - 1);
  if (input.has_ignore)
    ignored = input.ignore;
}

/// In the unsigned numbers of the stored type, whose comparisons a processor does for many at a time: an id is allowed
/// where id - low, as such a number, is at most high - low.
template <class Id> uint64_t IdRule::find(const char *elements, uint64_t count) const {
  using Word = std::make_unsigned_t<Id>;
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): bytes are numbers here
  constexpr int64_t least = std::numeric_limits<Id>::min(), most = std::numeric_limits<Id>::max();
  const int64_t low = std::max(first, least), high = std::min(last, most);
  if (low == least && high == most)
    return count;
  const bool canIgnore = ignored && *ignored >= least && *ignored <= most;
  const Word base = (Word)low, range = (Word)((Word)high - base), other = canIgnore ? (Word)*ignored : base;
  auto isBad = [=](Word id) { return ((Word)(id - base) > range) & (id != other); };
  constexpr uint64_t some = 1024; // without a branch among them
  for (uint64_t at = 0; at < count; at += some) {
    uint64_t end = std::min(count, at + some);
    Word any = 0;
    for (uint64_t i = at; i < end; ++i)
      any |= (Word)isBad(readAt<Word>(elements, i));
    for (uint64_t i = at; any && i < end; ++i)
      if (isBad(readAt<Word>(elements, i)))
        return i;
  }
  return count;
}

uint64_t IdRule::findBad(const char *elements, uint64_t count) const {
  if (!isNeeded())
    return count;
  return withType(type, [&](auto example) -> uint64_t {
    using Id = decltype(example);
    if constexpr (std::is_integral_v<Id>)
      return find<Id>(elements, count);
    else
      return count; // no id
  });
}

int64_t IdRule::idAt(const char *elements, uint64_t index) const {
  return withType(type, [&](auto example) {
    using Id = decltype(example);
    return convertOne<Id, int64_t>(readAt<Id>(elements, index));
  });
}

std::string IdRule::describe(const char *elements, uint64_t index) const {
  int64_t id = idAt(elements, index);
  if (input.has_limit && (id < 0 || id >= input.limit))
    return fmt::format("id {} is outside the table of input '{}', which has {} rows{}", id, input.name, input.limit,
                       input.has_ignore ? fmt::format(" ({} is ignored)", input.ignore) : "");
  return fmt::format("{} does not fit input '{}', whose elements have 32 bits", id, input.name);
}

} // namespace xlc::runtime
