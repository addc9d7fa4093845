// See SafetensorsHeader.h. The format: https://github.com/huggingface/safetensors
#include "SafetensorsHeader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr char noObject[] = "not a safetensors file: the header is not a JSON object";

/// Takes the parser's events. A complaint ends the parsing.
class HeaderEvents {
public:
  HeaderEvents(uint64_t dataBegin, uint64_t dataBytes, SafetensorsHeader &header)
      : dataBegin(dataBegin), dataBytes(dataBytes), header(header) {}

  std::string complaint;

  bool start_object(size_t) {
    if (at == At::Header) {
      bool isMetadata = name == metadataName;
      if (isMetadata ? std::exchange(hasMetadata, true) : header.tensors.contains(name))
        return complain(fmt::format("the header has '{}' twice", name));
      at = isMetadata ? At::Metadata : At::Entry;
      entry = {}, offsets.clear(), field = Field::None, seen = 0;
      return true;
    }
    if (at != At::Begin)
      return misplaced();
    at = At::Header;
    return true;
  }
  bool end_object() {
    if (at == At::Entry && !finishEntry())
      return false;
    at = at == At::Header ? At::End : At::Header;
    return true;
  }
  bool key(std::string &text) {
    if (at == At::Header) {
      name = std::move(text);
      return true;
    }
    if (at == At::Metadata) {
      metadataKey = std::move(text);
      return true;
    }
    field = text == "dtype"          ? Field::Dtype
            : text == "shape"        ? Field::Shape
            : text == "data_offsets" ? Field::Offsets
                                     : Field::None;
    if (field == Field::None || (seen & (int)field))
      return misplaced();
    seen |= (int)field;
    return true;
  }
  bool string(std::string &text) {
    if (at == At::Metadata)
      return header.metadata.emplace(metadataKey, std::move(text)).second ||
             complain(fmt::format("the header has '{}' twice in '{}'", metadataKey, metadataName));
    if (at != At::Entry || field != Field::Dtype)
      return misplaced();
    entry.dtype = std::move(text);
    return true;
  }
  bool start_array(size_t) {
    if (at != At::Entry || (field != Field::Shape && field != Field::Offsets))
      return misplaced();
    at = At::List;
    return true;
  }
  bool end_array() {
    at = At::Entry;
    return true;
  }
  bool number_unsigned(uint64_t value) {
    if (at != At::List)
      return misplaced();
    (field == Field::Shape ? entry.shape : offsets).push_back(value);
    return true;
  }
  bool number_integer(int64_t) { return noCount(); }
  bool number_float(double, const std::string &) { return noCount(); }
  bool null() { return misplaced(); }
  bool boolean(bool) { return misplaced(); }
  bool binary(nlohmann::json::binary_t &) { return misplaced(); }
  bool parse_error(size_t, const std::string &, const nlohmann::json::exception &) { return complain(noObject); }

private:
  /// Where the next event belongs: List is a shape or the offsets of an entry.
  enum class At { Begin, Header, Metadata, Entry, List, End };
  enum class Field { None = 0, Dtype = 1, Shape = 2, Offsets = 4 };

  bool complain(std::string text) {
    complaint = std::move(text);
    return false;
  }
  bool misplaced() {
    if (at == At::Begin || at == At::End)
      return complain(noObject);
    if (at == At::Metadata || (at == At::Header && name == metadataName))
      return complain(fmt::format("'{}' of the header is not a map of strings", metadataName));
    return complain(fmt::format("the header's entry for '{}' cannot be parsed", name));
  }
  bool noCount() {
    if (at != At::List)
      return misplaced();
    return complain(
        fmt::format("'{}' has {} that is not an integer >= 0", name, field == Field::Shape ? "a size" : "an offset"));
  }

  bool finishEntry() {
    if (seen != ((int)Field::Dtype | (int)Field::Shape | (int)Field::Offsets))
      return misplaced();
    if (offsets.size() != 2)
      return complain(fmt::format("'{}' has {} data_offsets, but must have 2", name, offsets.size()));
    if (offsets[0] > offsets[1] || offsets[1] > dataBytes)
      return complain(fmt::format("'{}' is at bytes {} to {} of the data, which have {} bytes", name, offsets[0],
                                  offsets[1], dataBytes));
    entry.begin = dataBegin + offsets[0], entry.bytes = offsets[1] - offsets[0];
    uint64_t bytes = dtypeBytes(entry.dtype);
    if (bytes == 0)
      return complain(fmt::format("'{}' has the unknown type '{}'", name, entry.dtype));
    for (uint64_t dim : entry.shape)
      if (__builtin_mul_overflow(bytes, dim, &bytes))
        return complain(fmt::format("'{}' is too large", name));
    if (bytes != entry.bytes)
      return complain(fmt::format("'{}' needs {} bytes for its shape and type, but its data_offsets span {}", name,
                                  bytes, entry.bytes));
    header.tensors.emplace(std::move(name), std::move(entry));
    return true;
  }

  const uint64_t dataBegin, dataBytes;
  SafetensorsHeader &header;
  At at = At::Begin;
  bool hasMetadata = false;
  std::string name, metadataKey;
  // Of the entry that is being read.
  StoredTensor entry;
  std::vector<uint64_t> offsets;
  Field field = Field::None;
  int seen = 0;
};

/// One tensor behind the other, from the first byte to the last.
std::string findGap(const SafetensorsHeader &header, uint64_t dataBegin, uint64_t dataBytes) {
  std::vector<const std::pair<const std::string, StoredTensor> *> sorted;
  for (const auto &tensor : header.tensors)
    sorted.push_back(&tensor);
  std::ranges::sort(sorted, {},
                    [](const auto *tensor) { return std::pair(tensor->second.begin, tensor->second.bytes); });
  uint64_t end = dataBegin;
  const std::string *before = nullptr;
  auto gap = [&](uint64_t next) {
    return fmt::format("bytes {} to {} of the data do not belong to a tensor", end - dataBegin, next - dataBegin);
  };
  for (const auto *tensor : sorted) {
    const auto &[name, place] = *tensor;
    if (place.begin < end)
      return fmt::format("'{}' and '{}' overlap; a tensor with several names must be written once", *before, name);
    if (place.begin > end)
      return gap(place.begin);
    end = place.begin + place.bytes;
    before = &name;
  }
  return end == dataBegin + dataBytes ? "" : gap(dataBegin + dataBytes);
}

} // namespace

uint64_t dtypeBytes(std::string_view dtype) {
  constexpr std::pair<std::string_view, uint64_t> sizes[] = {
      {"F64", 8}, {"F32", 4},  {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4},     {"I16", 2},    {"I8", 1},
      {"U8", 1},  {"BOOL", 1}, {"U16", 2}, {"U32", 4},  {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (auto [name, bytes] : sizes)
    if (name == dtype)
      return bytes;
  return 0;
}

std::string parseSafetensorsHeader(std::string_view text, uint64_t dataBegin, uint64_t dataBytes,
                                   SafetensorsHeader &header) {
  if (!text.starts_with('{') || text.find('\0') != text.npos) // the parser takes a NUL for the end
    return noObject;
  HeaderEvents events(dataBegin, dataBytes, header);
  if (!nlohmann::json::sax_parse(text, &events))
    return events.complaint;
  return findGap(header, dataBegin, dataBytes);
}

} // namespace xlc::runtime
