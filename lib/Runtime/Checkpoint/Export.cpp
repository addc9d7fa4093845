// See Export.h.
#include "Export.h"

#include "Adapter.h"
#include "Plan/Elements.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace xlc::runtime {
namespace {

constexpr size_t mostNamed = 100;

/// Whether an export may give it another type.
bool isConverted(const SavedTensor &tensor, const ExportChoice &choice) {
  std::optional<plan::Element> is = findElement(tensor.dtype);
  return !choice.dtype.empty() && tensor.isOfModel() && is && isFloat(*is);
}

TensorForm formOf(const SavedTensor &tensor, const ExportChoice &choice) {
  return {tensor.key(), tensor.shape, isConverted(tensor, choice) ? choice.dtype : tensor.dtype};
}

/// Puts elements of a tensor in memory, in the type of its form.
void fill(CheckpointReader &reader, const SavedTensor &tensor, const TensorForm &form, uint64_t begin, uint64_t count,
          char *to) {
  reader.read(tensor, begin, count, [&](const void *bytes, uint64_t some) {
    if (form.dtype == tensor.dtype) {
      std::memcpy(to, bytes, some);
      to += some;
      return;
    }
    plan::Element from = *findElement(tensor.dtype);
    std::vector<char> converted = convert(from, bytes, some / bytesOf(from), *findElement(form.dtype));
    std::ranges::copy(converted, to);
    to += converted.size();
  });
}

TensorToStore storeAs(CheckpointReader &reader, const SavedTensor &tensor, TensorForm form) {
  return {form, [&reader, &tensor, form](uint64_t begin, uint64_t count, void *to) {
            fill(reader, tensor, form, begin, count, (char *)to);
          }};
}

void makeDirectory(const std::string &path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw Rejected(fmt::format("{}: error: cannot create the folder: {}", path, std::strerror(errno)));
}

/// What the file at `from` has becomes the content of `to`.
void copyFile(const std::string &from, OutputFile &to) {
  InputFile file(from);
  std::vector<char> block(std::min(file.size(), sealedBlock));
  for (uint64_t at = 0; at < file.size(); at += block.size()) {
    uint64_t some = std::min<uint64_t>(block.size(), file.size() - at);
    file.read(at, some, block.data());
    to.write(block.data(), some);
  }
}

/// The tensors of each file.
std::vector<std::vector<TensorToStore>> divide(std::vector<TensorToStore> tensors, uint64_t most) {
  std::vector<std::vector<TensorToStore>> files(1);
  uint64_t bytes = 0;
  for (TensorToStore &tensor : tensors) {
    uint64_t more = countBytes(tensor.form);
    if (most > 0 && bytes + more > most && !files.back().empty())
      files.emplace_back(), bytes = 0;
    bytes += more;
    files.back().push_back(std::move(tensor));
  }
  return files;
}

} // namespace

std::vector<std::string> findDamage(const Checkpoint &checkpoint) {
  CheckpointReader reader(checkpoint);
  std::vector<std::string> damage;
  for (const SavedTensor &tensor : checkpoint.manifest().tensors)
    for (const SavedPiece &piece : tensor.pieces)
      for (uint64_t block = 0; block < reader.blocksOf(tensor, piece) && damage.size() < mostNamed; ++block)
        try {
          reader.verify(tensor, piece, block);
        } catch (const Damaged &problem) {
          damage.emplace_back(problem.what());
        }
  return damage;
}

std::vector<std::string> exportCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                                          const ExportChoice &choice) {
  CheckpointReader reader(checkpoint);
  std::vector<TensorToStore> tensors;
  for (const SavedTensor &tensor : checkpoint.manifest().tensors) {
    if (!tensor.isOfModel() && !choice.states)
      continue;
    tensors.push_back(storeAs(reader, tensor, formOf(tensor, choice)));
  }
  if (choice.shardBytes == 0) {
    writeSafetensors(path, tensors);
    return {path};
  }
  makeDirectory(path);
  std::vector<std::vector<TensorToStore>> files = divide(std::move(tensors), choice.shardBytes);
  std::vector<std::string> names;
  nlohmann::json places = nlohmann::json::object();
  uint64_t bytes = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, files.size());
    std::string file = fmt::format("{}/{}", path, name);
    for (const TensorToStore &tensor : files[i])
      places[tensor.form.name] = name, bytes += countBytes(tensor.form);
    writeSafetensors(file, files[i]);
    names.push_back(file);
  }
  OutputFile index(path + "/model.safetensors.index.json");
  index.write(nlohmann::json{{"metadata", {{"total_size", bytes}}}, {"weight_map", std::move(places)}}.dump(2) + "\n");
  index.publish();
  names.push_back(index.path);
  return names;
}

ExportedAdapter exportAdapter(const Checkpoint &checkpoint, const std::string &folder, const std::string &config,
                              const ExportChoice &choice) {
  Adapter adapter = findAdapter(checkpoint);
  CheckpointReader reader(checkpoint);
  std::vector<TensorToStore> tensors;
  for (const auto &[tensor, name] : adapter.tensors) {
    TensorForm form = formOf(*tensor, choice);
    form.name = name;
    tensors.push_back(storeAs(reader, *tensor, std::move(form)));
  }
  makeDirectory(folder);
  std::optional<OutputFile> copy;
  if (!config.empty())
    copyFile(config, copy.emplace(folder + "/adapter_config.json"));
  ExportedAdapter exported{{folder + "/adapter_model.safetensors"}, std::move(adapter.leftOut)};
  writeSafetensors(exported.files.front(), tensors);
  if (copy) {
    copy->publish();
    exported.files.push_back(copy->path);
  }
  return exported;
}

} // namespace xlc::runtime
