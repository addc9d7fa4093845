// See TensorFiles.h.
#include "TensorFiles.h"

#include "Failure.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char indexName[] = "model.safetensors.index.json", shardingKey[] = "DCP_SHARDING_INFO";
constexpr size_t mostBoxes = 4096;           // of a tensor; they are compared with each other
constexpr uint64_t largestIndex = 100 << 20; // bytes, as headers of files
constexpr uint64_t movedBytes = 1 << 18;

std::string readAll(const std::string &path) {
  InputFile file(path);
  if (file.size() > largestIndex)
    file.reject(fmt::format("has {} bytes, but an index has at most {}", file.size(), largestIndex));
  std::string text(file.size(), '\0');
  file.read(0, text.size(), text.data());
  return text;
}

/// The value of an object's member, if it is an object.
const json *findObject(const json &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

uint64_t countElements(const std::vector<uint64_t> &shape) {
  uint64_t count = 1;
  for (uint64_t dim : shape)
    count *= dim;
  return count;
}

bool overlap(const TensorFiles::Box &a, const TensorFiles::Box &b) {
  for (size_t i = 0; i < a.shape.size(); ++i)
    if (a.offsets[i] + a.shape[i] <= b.offsets[i] || b.offsets[i] + b.shape[i] <= a.offsets[i])
      return false;
  return true;
}

/// Where an element lies, and how many follow it both there and in the whole tensor.
struct Found {
  const TensorFiles::Box *box;
  uint64_t at, count; ///< in elements of the box
};

Found find(const TensorFiles::Tensor &tensor, uint64_t element) {
  size_t rank = tensor.shape.size();
  std::vector<uint64_t> place(rank);
  for (size_t i = rank; i-- > 0; element /= tensor.shape[i])
    place[i] = element % tensor.shape[i];
  for (const TensorFiles::Box &box : tensor.boxes) {
    bool isInside = true;
    for (size_t i = 0; i < rank; ++i)
      isInside &= place[i] >= box.offsets[i] && place[i] - box.offsets[i] < box.shape[i];
    if (!isInside)
      continue;
    Found found{&box, 0, 1};
    for (size_t i = 0; i < rank; ++i)
      found.at = found.at * box.shape[i] + (place[i] - box.offsets[i]);
    // Behind the last dimension that the box has a part of, its rows are those of the tensor.
    uint64_t behind = 0, inner = 1;
    for (size_t i = rank; i-- > 0; inner *= tensor.shape[i]) {
      if (box.shape[i] != tensor.shape[i])
        return {&box, found.at, (box.offsets[i] + box.shape[i] - place[i]) * inner - behind};
      behind += place[i] * inner;
    }
    found.count = inner - behind;
    return found;
  }
  throw std::logic_error("an element of a tiled tensor is not in any of its parts");
}

} // namespace

TensorFiles::TensorFiles(std::string given) : path(std::move(given)) {
  if (fs::is_directory(path))
    openFolder();
  else
    open(path);
  for (const auto &[name, tensor] : all)
    checkTiling(name, tensor);
}

/// All tensors of a file, by the places that it says of them.
void TensorFiles::open(const std::string &file) {
  const SafetensorsReader &reader = files.emplace_back(std::make_unique<File>(file))->reader;
  auto text = reader.metadata().find(shardingKey);
  json places =
      text == reader.metadata().end() ? json() : json::parse(text->second, nullptr, /*allow_exceptions=*/false);
  if (places.is_discarded())
    reader.reject(fmt::format("'{}' is not JSON", shardingKey));
  for (const auto &[name, stored] : reader.tensors()) {
    std::vector<uint64_t> offsets(stored.shape.size());
    if (const json *entry = findObject(places, name.c_str())) {
      auto saved = entry->find("saved_offsets");
      bool isList = saved != entry->end() && saved->is_array() && saved->size() == offsets.size() &&
                    std::ranges::all_of(*saved, [](const json &each) { return each.is_number_unsigned(); });
      if (!isList)
        reader.reject(fmt::format("'{}' must have {} offsets for '{}'", shardingKey, offsets.size(), name));
      offsets = saved->get<std::vector<uint64_t>>();
    }
    add(files.size() - 1, name, std::move(offsets));
  }
}

void TensorFiles::openFolder() {
  std::string index = path + "/" + indexName;
  if (fs::exists(index))
    return openIndex(index);
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(path, error); entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".safetensors")
      names.push_back(entry->path().string());
  if (names.empty())
    throw Rejected(fmt::format("{}: error: has neither {} nor a .safetensors file", path, indexName));
  std::ranges::sort(names);
  for (const std::string &name : names)
    open(name);
}

/// The files that an index names, in its folder. A tensor is where it says, alone.
void TensorFiles::openIndex(const std::string &index) {
  auto reject = [&](const std::string &why) { throw Rejected(fmt::format("{}: error: {}", index, why)); };
  json content = json::parse(readAll(index), nullptr, /*allow_exceptions=*/false);
  const json *places = findObject(content, "weight_map");
  if (!places)
    reject("has no \"weight_map\" from tensors to files");
  std::map<std::string, std::vector<std::string>> byFile;
  for (const auto &[name, file] : places->items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos || file == "" || file == "..")
      reject(fmt::format("'{}' is mapped to {}, which is not the name of a file in the folder", name, file.dump()));
    byFile[file.get<std::string>()].push_back(name);
  }
  for (const auto &[file, names] : byFile) {
    const SafetensorsReader &reader = files.emplace_back(std::make_unique<File>(path + "/" + file))->reader;
    for (const std::string &name : names) {
      auto stored = reader.tensors().find(name);
      if (stored == reader.tensors().end())
        reader.reject(fmt::format("has no '{}', but {} lists it in this file", name, indexName));
      add(files.size() - 1, name, std::vector<uint64_t>(stored->second.shape.size()));
    }
  }
}

void TensorFiles::add(size_t file, const std::string &name, std::vector<uint64_t> offsets) {
  const SafetensorsReader &reader = files[file]->reader;
  const StoredTensor &stored = reader.tensors().at(name);
  auto [known, isNew] = all.try_emplace(name);
  Tensor &tensor = known->second;
  if (isNew)
    tensor.dtype = stored.dtype, tensor.shape.assign(stored.shape.size(), 0);
  if (tensor.dtype != stored.dtype || tensor.shape.size() != stored.shape.size())
    reader.reject(fmt::format("'{}' has type {} and {} dimensions, but type {} and {} dimensions in another file", name,
                              stored.dtype, stored.shape.size(), tensor.dtype, tensor.shape.size()));
  for (size_t i = 0; i < offsets.size(); ++i) {
    uint64_t end = 0;
    if (__builtin_add_overflow(offsets[i], stored.shape[i], &end))
      reader.reject(fmt::format("'{}' has an offset of {}, which is too large, in dimension {}", name, offsets[i], i));
    tensor.shape[i] = std::max(tensor.shape[i], end);
  }
  if (countElements(stored.shape) > 0 || isNew)
    tensor.boxes.push_back({file, stored.begin, stored.bytes, std::move(offsets), stored.shape});
  if (tensor.boxes.size() > mostBoxes)
    reader.reject(fmt::format("'{}' is in more than {} parts", name, mostBoxes));
}

void TensorFiles::checkTiling(const std::string &name, const Tensor &tensor) const {
  auto reject = [&](const Box &box, const std::string &why) {
    files[box.file]->reader.reject(fmt::format("'{}' {}", name, why));
  };
  uint64_t elements = 1, there = 0;
  for (uint64_t dim : tensor.shape)
    if (__builtin_mul_overflow(elements, dim, &elements))
      reject(tensor.boxes[0], fmt::format("has shape [{}], which is too large", fmt::join(tensor.shape, ", ")));
  for (size_t i = 0; i < tensor.boxes.size(); ++i) {
    const Box &box = tensor.boxes[i];
    uint64_t count = countElements(box.shape); // of a file, so that it has no overflow
    there += count;
    for (size_t j = 0; j < i && count > 0; ++j)
      if (countElements(tensor.boxes[j].shape) > 0 && overlap(box, tensor.boxes[j]))
        reject(box, fmt::format("has a part at offsets [{}] that overlaps another part, in {}",
                                fmt::join(box.offsets, ", "), files[tensor.boxes[j].file]->reader.path()));
  }
  if (there != elements)
    reject(tensor.boxes[0],
           fmt::format("has shape [{}], but all files together have {} of its elements; {} are missing",
                       fmt::join(tensor.shape, ", "), there, elements - there));
}

/// The checksum of the file's entry, once.
void TensorFiles::verify(const std::string &name, const Box &box) const {
  const auto &[reader, seal] = *files[box.file];
  if (!seal)
    return;
  {
    std::lock_guard lock(mutex);
    if (!verified.emplace(box.file, name).second)
      return;
  }
  Checksum checksum;
  std::vector<char> block(std::min(box.bytes, movedBytes));
  for (uint64_t at = 0; at < box.bytes; at += movedBytes) {
    uint64_t some = std::min(movedBytes, box.bytes - at);
    reader.read(box.begin + at, some, block.data());
    checksum.add(block.data(), some);
  }
  if (std::string why = seal->findDamage(name, checksum); !why.empty())
    reader.reject(why);
}

void TensorFiles::read(const std::string &name, uint64_t begin, uint64_t count, const Take &take) const {
  const Tensor &tensor = all.at(name);
  uint64_t size = dtypeBytes(tensor.dtype), most = movedBytes / size;
  std::vector<char> block(std::min(count, most) * size);
  for (uint64_t at = begin, end = begin + count; at < end;) {
    Found found = find(tensor, at);
    verify(name, *found.box);
    uint64_t some = std::min({end - at, found.count, most});
    files[found.box->file]->reader.read(found.box->begin + found.at * size, some * size, block.data());
    take(block.data(), some * size);
    at += some;
  }
}

} // namespace xlc::runtime
