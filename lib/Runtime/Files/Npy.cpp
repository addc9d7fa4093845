// See Npy.h. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// "\x93NUMPY", version, length of the header, the header (a Python dictionary), the elements.
#include "Npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace xlc::runtime {
namespace {

constexpr uint64_t longestNpyHeader = 1 << 20; // it names one type and at most 32 sizes

/// Reads the header's dictionary: quoted strings, True or False, a tuple of sizes. Any other text is refused.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : text(text) {}

  bool take(char c) {
    skipSpace();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool isAtEnd() {
    skipSpace();
    return text.empty();
  }
  bool takeString(std::string_view &value) {
    skipSpace();
    if (text.empty() || (text.front() != '\'' && text.front() != '"'))
      return false;
    size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  bool takeSize(uint64_t &value) {
    skipSpace();
    size_t digits = 0;
    for (value = 0; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[digits] - '0', &value))
        return false;
    text.remove_prefix(digits);
    return digits > 0;
  }
  bool takeTuple(std::vector<uint64_t> &sizes) {
    if (!take('('))
      return false;
    sizes.clear();
    while (!take(')')) {
      uint64_t size;
      if (!takeSize(size) || sizes.size() == 32)
        return false;
      sizes.push_back(size);
      if (!take(','))
        return take(')');
    }
    return true;
  }

private:
  void skipSpace() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
  }
  std::string_view text;
};

} // namespace

NpyFile::NpyFile(const std::string &path) : file(path) { parse(); }

void NpyFile::parse() {
  unsigned char prefix[12];
  uint64_t size = file.size();
  if (size == 0)
    file.reject("is empty");
  file.read(0, std::min<uint64_t>(size, sizeof prefix), prefix);
  if (size < 10 || std::memcmp(prefix, "\x93NUMPY", 6) != 0)
    file.reject("not an .npy file: it does not begin with \\x93NUMPY");
  int version = prefix[6];
  if (version < 1 || version > 3)
    file.reject(fmt::format("format version {} is not supported; supported versions are 1 to 3", version));
  uint64_t headerAt = version == 1 ? 10 : 12, length = 0;
  if (size < headerAt)
    file.reject("the header is truncated");
  for (uint64_t i = 8; i < headerAt; ++i)
    length |= (uint64_t)prefix[i] << 8 * (i - 8);
  if (length > size - headerAt)
    file.reject(
        fmt::format("the header is truncated: its length is {} bytes, but only {} follow", length, size - headerAt));
  if (length > longestNpyHeader)
    file.reject(fmt::format("the header has {} bytes, more than the limit of {}", length, longestNpyHeader));
  std::string header(length, '\0');
  file.read(headerAt, length, header.data());
  parseHeader(header);
  elementsAt = headerAt + length;
  uint64_t needed = bytesOf(type);
  for (uint64_t dim : shape)
    if (__builtin_mul_overflow(needed, dim, &needed))
      file.reject("the shape is too large");
  if (needed != size - elementsAt)
    file.reject(fmt::format("the shape needs {} bytes of elements, but the file has {}", needed, size - elementsAt));
}

void NpyFile::parseHeader(std::string_view header) {
  HeaderReader reader(header);
  std::string_view key, descr;
  bool hasShape = false, hasOrder = false, fortran = false;
  if (!reader.take('{'))
    file.reject("the header is not a dictionary");
  std::set<std::string_view> seen;
  for (bool ended = reader.take('}'); !ended;) {
    bool good = reader.takeString(key) && reader.take(':') && seen.insert(key).second;
    if (good && key == "descr")
      good = reader.takeString(descr);
    else if (good && key == "fortran_order")
      hasOrder = good = (fortran = reader.takeWord("True")) || reader.takeWord("False");
    else if (good && key == "shape")
      hasShape = good = reader.takeTuple(shape);
    else
      good = false;
    bool hasComma = reader.take(',');
    ended = reader.take('}');
    if (!good || (!hasComma && !ended))
      file.reject("the header cannot be parsed (records and objects as elements are not supported)");
  }
  if (!reader.isAtEnd())
    file.reject("the header continues after its dictionary");
  if (descr.empty() || !hasShape || !hasOrder)
    file.reject("the header lacks one of 'descr', 'fortran_order', 'shape'");
  if (fortran)
    file.reject("elements are in Fortran order, but must be in C order: use numpy.ascontiguousarray");
  std::string known;
  for (const StoredTypeRow &row : kStoredTypes) {
    if (descr == row.numpy) {
      type = row.type;
      return;
    }
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", row.numpy);
  }
  file.reject(fmt::format("elements have type '{}', but the supported types are {}", descr, known));
}

std::string makeNpyHeader(StoredType type, const std::vector<uint64_t> &shape) {
  constexpr size_t before = 10, grain = 64; // magic, version 1.0, 16 bits of the header's length
  std::string sizes;
  for (uint64_t size : shape)
    sizes += fmt::format("{}, ", size);
  if (shape.size() > 1)
    sizes.resize(sizes.size() - 2);
  else if (!sizes.empty())
    sizes.pop_back(); // (4,) is a tuple of one
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", rowOf(type).numpy, sizes);
  header.resize((before + header.size() + 1 + grain - 1) / grain * grain - before, ' ');
  header.back() = '\n';
  std::string text("\x93NUMPY\1\0", 8);
  text += (char)(header.size() & 0xff), text += (char)(header.size() >> 8);
  return text + header;
}

} // namespace xlc::runtime
