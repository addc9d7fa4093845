// See Import.h.
#include "Import.h"

#include "Plan/Elements.h"
#include "Retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <sys/stat.h>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

struct Source {
  const TensorFiles *files;
  std::string key; ///< there, and in the checkpoint
  SavedTensor tensor;
};

/// The state and the parameter of "m/w", where there is a parameter w.
std::optional<std::pair<std::string, std::string>> splitState(const std::string &key, const TensorFiles &parameters) {
  size_t slash = key.find('/');
  if (slash == std::string::npos || slash == 0 || !parameters.tensors().contains(key.substr(slash + 1)))
    return std::nullopt;
  return std::pair(key.substr(0, slash), key.substr(slash + 1));
}

class Importing {
public:
  explicit Importing(const TensorFiles &parameters) : parameters(parameters) {}

  /// Adds all tensors of floats. With `needsStates` each of them has to be a state; another is an error.
  void add(const TensorFiles &files, bool needsStates) {
    for (const auto &[key, stored] : files.tensors()) {
      std::optional<plan::Element> element = findElement(stored.dtype);
      if (!element || !isFloat(*element)) {
        imported.leftOut.push_back(key);
        continue;
      }
      auto state = splitState(key, parameters);
      if (needsStates && !state)
        throw Rejected(fmt::format("{}: error: '{}' is not an optimizer state: its name must be STATE/NAME, such as "
                                   "m/NAME, where NAME is a parameter in {}",
                                   files.path, key, parameters.path));
      SavedTensor tensor{state ? state->second : key,
                         state ? state->first : std::string(kParameterKind),
                         stored.dtype,
                         stored.shape,
                         {},
                         {}};
      (state ? states : whole).push_back({&files, key, std::move(tensor)});
      (state ? imported.states : imported.parameters) += 1;
    }
  }

  /// Writes both files into the folder, and adds them to the manifest.
  void write(const std::string &folder, Manifest &manifest) {
    std::set<std::string> kinds;
    for (const Source &source : states)
      kinds.insert(source.tensor.kind);
    manifest.states.assign(kinds.begin(), kinds.end());
    writeFile(folder, "parameters-00000.safetensors", whole, manifest);
    writeFile(folder, "states-00000.safetensors", states, manifest);
    manifest.model = fingerprintOf(manifest.tensors);
  }

  Imported imported;

private:
  static void writeFile(const std::string &folder, const char *name, std::vector<Source> &sources, Manifest &manifest) {
    if (sources.empty())
      return;
    std::vector<TensorToStore> tensors;
    for (Source &source : sources) {
      SavedTensor &tensor = source.tensor;
      uint64_t elements = geometryOf(tensor.shape, tensor.cut)->pieceElements();
      if (elements > 0)
        tensor.pieces = {{manifest.files.size(), {0, 0, elements}}};
      tensors.push_back({{source.key, tensor.shape, tensor.dtype}, [&source](uint64_t begin, uint64_t count, void *to) {
                           source.files->read(source.key, begin, count, [&](const void *bytes, uint64_t some) {
                             std::memcpy(to, bytes, some);
                             to = (char *)to + some;
                           });
                         }});
      manifest.tensors.push_back(tensor);
    }
    std::string path = folder + "/" + name;
    writeSafetensors(path, tensors, BlockSeals::With);
    SafetensorsReader reader(path);
    manifest.files.push_back({name, reader.size(), reader.headerDigits()});
  }

  const TensorFiles &parameters;
  std::vector<Source> whole, states;
};

} // namespace

Imported importCheckpoint(const std::string &from, const std::string &to, const ImportChoice &choice) {
  TensorFiles parameters(from);
  std::optional<TensorFiles> states;
  Importing importing(parameters);
  importing.add(parameters, /*needsStates=*/false);
  if (!choice.states.empty())
    importing.add(states.emplace(choice.states), /*needsStates=*/true);
  if (importing.imported.parameters == 0)
    throw Rejected(fmt::format("{}: error: has no parameters: none of its tensors has a floating-point type", from));
  Manifest manifest;
  manifest.progress = {choice.step, choice.step, choice.samples}, manifest.seed = choice.seed;
  manifest.optimizer = choice.optimizer, manifest.schedule = kImportedSchedule;
  manifest.madeBy = {choice.compiler, "imported", "as in the files", "none"};
  if (mkdir(to.c_str(), 0777) != 0)
    throw Rejected(fmt::format("{}: error: cannot create the folder: {}", to, std::strerror(errno)));
  try {
    importing.write(to, manifest);
    OutputFile file(to + "/" + manifestName);
    file.write(writeManifest(manifest));
    file.publish();
    syncFolder(fs::absolute(to).parent_path().string());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(to, ignored);
    throw;
  }
  return std::move(importing.imported);
}

} // namespace xlc::runtime
