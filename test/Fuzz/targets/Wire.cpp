// See Wire.h. https://protobuf.dev/programming-guides/encoding
#include "Wire.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

namespace xlc::fuzz {
namespace {

enum Wire : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  uint64_t tag = 0, value = 0; ///< value: of a varint
  std::string bytes;           ///< of every other, unless it is a message
  std::vector<Field> fields;   ///< of a message
  unsigned wire() const { return tag & 7; }
};
using Fields = std::vector<Field>;

std::optional<uint64_t> takeVarint(std::string_view &text) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    auto byte = (uint8_t)text.front();
    text.remove_prefix(1);
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

void putVarint(uint64_t value, std::string &out) {
  for (; value >= 0x80; value >>= 7)
    out += (char)(value | 0x80);
  out += (char)value;
}

std::optional<Fields> parse(std::string_view text, int depth) {
  Fields fields;
  while (!text.empty()) {
    std::optional<uint64_t> tag = takeVarint(text);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 1000)
      return std::nullopt;
    Field &field = fields.emplace_back();
    field.tag = *tag;
    bool isSized = field.wire() == Bytes;
    std::optional<uint64_t> number = isSized || field.wire() == Varint ? takeVarint(text)
                                     : field.wire() == Fixed64         ? std::optional<uint64_t>(8)
                                     : field.wire() == Fixed32         ? std::optional<uint64_t>(4)
                                                                       : std::nullopt;
    if (!number)
      return std::nullopt;
    field.value = *number;
    if (field.wire() == Varint)
      continue;
    if (*number > text.size())
      return std::nullopt;
    field.bytes = text.substr(0, *number);
    text.remove_prefix(*number);
    if (isSized && depth > 0 && field.bytes.size() > 1)
      field.fields = parse(field.bytes, depth - 1).value_or(Fields());
  }
  return fields;
}

std::string print(const Fields &fields) {
  std::string out;
  for (const Field &field : fields) {
    putVarint(field.tag, out);
    if (field.wire() == Varint) {
      putVarint(field.value, out);
      continue;
    }
    std::string payload = field.fields.empty() ? field.bytes : print(field.fields);
    if (field.wire() == Bytes)
      putVarint(payload.size(), out);
    out += payload;
  }
  return out;
}

struct Place {
  Fields *list;
  size_t index;
  Field &field() const { return (*list)[index]; }
};

void collect(Fields &fields, std::vector<Place> &places) {
  for (size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i});
    collect(fields[i].fields, places);
  }
}

void mutateScalar(Field &field, std::mt19937 &random) {
  constexpr uint64_t extremes[] = {0,     1,           2,           7,          16,         17,         127,  255,
                                   65536, ~0ull >> 33, ~0ull >> 32, 1ull << 40, ~0ull >> 1, 1ull << 63, ~0ull};
  switch (random() % 4) {
  case 0:
    field.value = extremes[random() % std::size(extremes)];
    break;
  case 1:
    field.value += random() % 5 - 2;
    break;
  case 2:
    field.value = random() % 32;
    break;
  default:
    LLVMFuzzerMutate((uint8_t *)&field.value, 8, 8);
  }
}

void mutateBytes(Field &field) {
  std::string bytes = field.bytes;
  size_t size = bytes.size(), most = field.wire() == Bytes ? size + 64 : size;
  bytes.resize(most);
  bytes.resize(std::min(most, LLVMFuzzerMutate((uint8_t *)bytes.data(), size, most)));
  if (field.wire() != Bytes)
    bytes.resize(size);
  field.bytes = bytes;
}

/// Gives a field the payload of another of its kind: an operand another value, an attribute another type.
void connect(const Place &place, const std::vector<Place> &places, std::mt19937 &random) {
  Field &field = place.field();
  for (int attempt = 0; attempt < 50; ++attempt) {
    const Field &other = places[random() % places.size()].field();
    bool isAlike = other.wire() == field.wire() && other.fields.empty() == field.fields.empty();
    if (&other == &field || !isAlike || (other.tag != field.tag && (attempt < 25 || !field.fields.empty())))
      continue;
    Field copy = other; // it may be within `field`
    copy.tag = field.tag;
    field = std::move(copy);
    return;
  }
}

void mutate(Fields &fields, std::mt19937 &random) {
  std::vector<Place> places;
  collect(fields, places);
  if (places.empty())
    return;
  Place place = places[random() % places.size()];
  Field &field = place.field();
  auto at = place.list->begin() + (ptrdiff_t)place.index;
  switch (random() % 8) {
  case 0:
    place.list->erase(at);
    break;
  case 1:
    place.list->insert(at, Field(field));
    break;
  case 2:
    std::swap(field, (*place.list)[random() % place.list->size()]);
    break;
  case 3:
  case 4:
    connect(place, places, random);
    break;
  default:
    if (field.wire() == Varint)
      mutateScalar(field, random);
    else if (field.fields.empty())
      mutateBytes(field);
    else
      connect(place, places, random);
  }
}

} // namespace

size_t mutateWire(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
  std::mt19937 random(seed);
  std::optional<Fields> fields = parse({(const char *)data, size}, 12);
  if (!fields || fields->empty())
    return 0;
  for (unsigned edits = 1 + random() % 3; edits > 0; --edits)
    mutate(*fields, random);
  std::string bytes = print(*fields);
  if (bytes.size() > capacity)
    return 0;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

} // namespace xlc::fuzz
