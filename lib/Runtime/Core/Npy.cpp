// See Npy.h. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// "\x93NUMPY", version, length of the header, the header (a Python dictionary), the elements.
#include "Npy.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

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

NpyFile::NpyFile(const std::string &path) : path(path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    std::string why = file >= 0 ? "not a regular file" : std::strerror(errno);
    if (file >= 0)
      close(file);
    reject("cannot be read: " + why);
  }
  mapped = (uint64_t)info.st_size;
  mapping = mapped ? mmap(nullptr, mapped, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (mapping == MAP_FAILED) {
    mapping = nullptr;
    reject(mapped ? fmt::format("cannot be read: {}", std::strerror(errno)) : "is empty");
  }
  try {
    parse((const char *)mapping, mapped);
  } catch (...) {
    munmap(mapping, mapped);
    throw;
  }
}

NpyFile::~NpyFile() { munmap(mapping, mapped); }

void NpyFile::dropPages() const { madvise(mapping, mapped, MADV_DONTNEED); }

void NpyFile::reject(const std::string &why) const { throw Rejected(fmt::format("{}: error: {}", path, why)); }

void NpyFile::parse(const char *bytes, uint64_t size) {
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    reject("not an .npy file: it does not begin with \\x93NUMPY");
  int version = (unsigned char)bytes[6];
  if (version < 1 || version > 3)
    reject(fmt::format("format version {} is not known, versions 1 to 3 are", version));
  uint64_t prefix = version == 1 ? 10 : 12, length = 0;
  if (size < prefix)
    reject("the header is cut off");
  for (uint64_t i = 8; i < prefix; ++i)
    length |= (uint64_t)(unsigned char)bytes[i] << 8 * (i - 8);
  if (length > size - prefix)
    reject(fmt::format("the header is cut off: {} bytes announced, {} there", length, size - prefix));
  parseHeader({bytes + prefix, length});
  uint64_t needed = elementBytes();
  for (uint64_t dim : shape)
    if (__builtin_mul_overflow(needed, dim, &needed))
      reject("the shape is larger than memory can be");
  if (needed != size - prefix - length)
    reject(fmt::format("the shape needs {} bytes of elements, the file has {}", needed, size - prefix - length));
  elements = bytes + prefix + length;
}

void NpyFile::parseHeader(std::string_view header) {
  HeaderReader reader(header);
  std::string_view key, descr;
  bool hasShape = false, hasOrder = false, fortran = false;
  if (!reader.take('{'))
    reject("the header is no dictionary");
  while (!reader.take('}')) {
    bool good = reader.takeString(key) && reader.take(':');
    if (good && key == "descr")
      good = reader.takeString(descr);
    else if (good && key == "fortran_order")
      hasOrder = good = (fortran = reader.takeWord("True")) || reader.takeWord("False");
    else if (good && key == "shape")
      hasShape = good = reader.takeTuple(shape);
    else
      good = false;
    if (!good)
      reject("the header cannot be understood (elements that are records or objects are not supported)");
    reader.take(',');
  }
  if (descr.empty() || !hasShape || !hasOrder)
    reject("the header lacks one of 'descr', 'fortran_order', 'shape'");
  if (fortran)
    reject("elements are in Fortran order, C order is needed: numpy.ascontiguousarray makes it");
  constexpr std::pair<std::string_view, NpyType> types[] = {
      {"<f4", NpyType::F32}, {"<f8", NpyType::F64}, {"<i4", NpyType::I32}, {"<i8", NpyType::I64}};
  for (auto [name, value] : types)
    if (descr == name) {
      type = value;
      return;
    }
  reject(fmt::format("elements are '{}', one of '<f4', '<f8', '<i4', '<i8' is needed", descr));
}

} // namespace xlc::runtime
