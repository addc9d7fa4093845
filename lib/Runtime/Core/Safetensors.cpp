// See Safetensors.h.
#include "Safetensors.h"

#include "OutputFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr uint64_t longestHeader = 100 << 20; // as the format's own library

[[noreturn]] void reject(const std::string &path, const std::string &why) {
  throw Rejected(fmt::format("{}: error: {}", path, why));
}

uint64_t dtypeBytes(std::string_view dtype) {
  constexpr std::pair<std::string_view, uint64_t> sizes[] = {
      {"F64", 8}, {"F32", 4},  {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4},     {"I16", 2},    {"I8", 1},
      {"U8", 1},  {"BOOL", 1}, {"U16", 2}, {"U32", 4},  {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (auto [name, bytes] : sizes)
    if (name == dtype)
      return bytes;
  return 0;
}

/// One entry of the header; `dataBegin` is where elements begin in the file, `dataBytes` how many bytes follow.
StoredTensor parseEntry(const std::string &path, const std::string &name, const nlohmann::json &entry,
                        uint64_t dataBegin, uint64_t dataBytes) {
  StoredTensor tensor;
  try {
    tensor.dtype = entry.at("dtype").get<std::string>();
    for (const nlohmann::json &dim : entry.at("shape"))
      if (!dim.is_number_unsigned())
        reject(path, fmt::format("'{}' has a size that is no count", name));
    tensor.shape = entry.at("shape").get<std::vector<uint64_t>>();
    auto offsets = entry.at("data_offsets").get<std::array<uint64_t, 2>>();
    if (offsets[0] > offsets[1] || offsets[1] > dataBytes)
      reject(path, fmt::format("'{}' is at bytes {} to {}, the file has {}", name, offsets[0], offsets[1], dataBytes));
    tensor.begin = dataBegin + offsets[0];
    tensor.bytes = offsets[1] - offsets[0];
  } catch (const nlohmann::json::exception &) {
    reject(path, fmt::format("the header's entry for '{}' cannot be understood", name));
  }
  uint64_t bytes = dtypeBytes(tensor.dtype);
  if (bytes == 0)
    reject(path, fmt::format("'{}' has the unknown type '{}'", name, tensor.dtype));
  for (uint64_t dim : tensor.shape)
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      reject(path, fmt::format("'{}' is larger than memory can be", name));
  if (bytes != tensor.bytes)
    reject(path,
           fmt::format("'{}' needs {} bytes for its shape and type, its place has {}", name, bytes, tensor.bytes));
  return tensor;
}

} // namespace

SafetensorsReader::SafetensorsReader(const std::string &path)
    : path(path), file(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat info;
  if (file < 0)
    reject(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  try {
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
      reject(path, "cannot be read: not a regular file");
    readHeader((uint64_t)info.st_size);
  } catch (...) {
    close(file);
    throw;
  }
}

SafetensorsReader::~SafetensorsReader() { close(file); }

void SafetensorsReader::readHeader(uint64_t size) {
  uint64_t length = 0;
  if (size < 8)
    reject(path, "not a safetensors file: shorter than 8 bytes");
  read(0, 8, &length);
  if (length > longestHeader || length > size - 8)
    reject(path, fmt::format("not a safetensors file: a header of {} bytes in a file of {}", length, size));
  std::string text(length, '\0');
  read(8, length, text.data());
  std::set<std::string> names;
  auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json &value) {
    if (depth == 1 && event == nlohmann::json::parse_event_t::key && !names.insert(value.get<std::string>()).second)
      reject(path, fmt::format("the header has '{}' twice", value.get<std::string>()));
    return depth < 8;
  };
  nlohmann::json header = nlohmann::json::parse(text, check, false);
  if (!header.is_object())
    reject(path, "not a safetensors file: the header is no JSON object");
  for (auto &[name, entry] : header.items())
    if (name != "__metadata__")
      all.emplace(name, parseEntry(path, name, entry, 8 + length, size - 8 - length));
  checkOverlaps();
}

/// Tensors share their place, as tied ones may, or have nothing in common.
void SafetensorsReader::checkOverlaps() const {
  std::vector<const std::pair<const std::string, StoredTensor> *> sorted;
  for (const auto &entry : all)
    if (entry.second.bytes > 0)
      sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, [](const auto *entry) { return std::pair(entry->second.begin, entry->second.bytes); });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const auto &[name, before] = *sorted[i - 1];
    const auto &[other, after] = *sorted[i];
    if (after.begin < before.begin + before.bytes && (after.begin != before.begin || after.bytes != before.bytes))
      reject(path, fmt::format("'{}' and '{}' overlap", name, other));
  }
}

void SafetensorsReader::read(uint64_t from, uint64_t count, void *to) const {
  for (char *at = (char *)to; count > 0;) {
    ssize_t done = pread(file, at, std::min<uint64_t>(count, 64 << 20), (off_t)from);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      reject(path,
             done == 0 ? "became shorter while it was read" : fmt::format("cannot be read: {}", std::strerror(errno)));
    at += done, from += (uint64_t)done, count -= (uint64_t)done;
  }
}

namespace {

uint64_t countElements(const std::vector<uint64_t> &shape) {
  uint64_t count = 1;
  for (uint64_t dim : shape)
    count *= dim;
  return count;
}

std::string makeHeader(const std::vector<TensorToStore> &tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t at = 0;
  for (const TensorToStore &tensor : tensors) {
    uint64_t bytes = countElements(tensor.shape) * 4;
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

} // namespace

void writeSafetensors(const std::string &path, const std::vector<TensorToStore> &tensors) {
  OutputFile file(path);
  std::string header = makeHeader(tensors);
  uint64_t length = header.size();
  file.write(&length, 8);
  file.write(header);
  std::vector<float> block(1 << 18);
  for (const TensorToStore &tensor : tensors) {
    uint64_t count = countElements(tensor.shape);
    for (uint64_t at = 0; at < count; at += block.size()) {
      uint64_t some = std::min<uint64_t>(block.size(), count - at);
      tensor.fill(at, some, block.data());
      file.write(block.data(), some * 4);
    }
  }
  file.publish();
}

} // namespace xlc::runtime
