// See Restore.h.
#include "Restore.h"

#include "Ownership.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace xlc::runtime {
namespace {

constexpr size_t mostDifferences = 3;

/// The first few of them, and how many there are.
class Differences {
public:
  template <class... Args> void add(fmt::format_string<Args...> text, Args &&...args) {
    if (++count <= mostDifferences)
      named.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::string describe() const {
    std::string text = fmt::format("{}", fmt::join(named, "; "));
    return count > mostDifferences ? fmt::format("{}; and {} more", text, count - mostDifferences) : text;
  }

private:
  std::vector<std::string> named;
  size_t count = 0;
};

bool isOfModel(const SavedTensor &tensor) { return tensor.kind == kParameterKind || tensor.kind == kBufferKind; }

void compareTensors(const Plan &plan, const Manifest &manifest, Differences &differences) {
  std::map<std::string, const SavedTensor *> there;
  for (const SavedTensor &tensor : manifest.tensors)
    if (isOfModel(tensor))
      there.emplace(tensor.name, &tensor);
  for (const SavedTensor &tensor : listTensors(plan)) {
    if (!isOfModel(tensor))
      continue;
    auto found = there.find(tensor.name);
    if (found == there.end())
      differences.add("it has no {} '{}'", tensor.kind, tensor.name);
    else if (found->second->shape != tensor.shape)
      differences.add("'{}' has shape [{}] there, the program needs [{}]", tensor.name,
                      fmt::join(found->second->shape, ", "), fmt::join(tensor.shape, ", "));
    if (found != there.end())
      there.erase(found);
  }
  for (const auto &parameter : plan.parameters)
    for (const std::string &tie : parameter->ties)
      there.erase(tie);
  for (const auto &[name, tensor] : there)
    differences.add("it has a {} '{}', which the program has not", tensor->kind, name);
}

std::string listOf(const std::vector<std::string> &names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The tensor that a state of a bucket is filled from, for one of its members.
const SavedTensor *sourceOf(const Checkpoint &checkpoint, const plan::StateT &state, const std::string &parameter) {
  return state.kind == plan::StateKind::Optimizer ? checkpoint.find(state.name, parameter)
                                                  : checkpoint.findOfModel(parameter);
}

} // namespace

std::string findDifferencesOfModel(const Plan &plan, const Manifest &manifest) {
  Differences differences;
  compareTensors(plan, manifest, differences);
  return differences.describe();
}

std::string findDifferences(const Plan &plan, const Manifest &manifest) {
  Differences differences;
  if (!manifest.optimizer.empty() && manifest.optimizer != plan.optimizer)
    differences.add("it is of the optimizer {}, the program's is {}", manifest.optimizer, plan.optimizer);
  std::vector<std::string> has = manifest.states, needs = listOptimizerStates(plan);
  std::ranges::sort(has);
  if (has != needs)
    differences.add("its optimizer has states {}, the program's has {}", listOf(has), listOf(needs));
  compareTensors(plan, manifest, differences);
  return differences.describe();
}

Restored restoreStates(const Plan &plan, const Checkpoint &checkpoint, int rank, RankMemory memory) {
  CheckpointReader reader(checkpoint);
  Restored restored;
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<size_t>> members = membersOfBuckets(plan);
  forEachState(plan, rank, [&](const HeldState &held) {
    memory.device->fill(memory.arena + held.offset, 0, held.getBytes());
    bool isRestored = held.row->begins == plan::Beginning::Parameters || held.row->kind == plan::StateKind::Optimizer;
    for (size_t i : isRestored ? members[*held.row->bucket] : std::vector<size_t>()) {
      const plan::ParameterT &parameter = *plan.parameters[i];
      const SavedTensor *tensor = sourceOf(checkpoint, *held.row, parameter.name);
      if (!tensor)
        continue; // a state that a frozen parameter has not
      fillMember(plan, parameter, rank, held, memory, *findElement(tensor->dtype),
                 [&](uint64_t begin, uint64_t count, const Take &take) {
                   reader.read(*tensor, begin, count, take);
                   restored.held += isSaved(plan, *held.row) ? count * dtypeBytes(tensor->dtype) : 0;
                 });
    }
  });
  restored.read = reader.bytesRead();
  restored.nanoseconds = (uint64_t)std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return restored;
}

bool isCheckpoint(const std::string &path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(std::filesystem::path(path) / manifestName, ignored);
}

CheckpointParameters::CheckpointParameters(const Plan &plan, std::shared_ptr<const Checkpoint> from)
    : plan(plan), checkpoint(std::move(from)) {
  if (std::string why = findDifferencesOfModel(plan, checkpoint->manifest()); !why.empty())
    throw Rejected(fmt::format("{}: error: is of another model: {}", checkpoint->folder, why));
}

void CheckpointParameters::read(size_t index, uint64_t begin, uint64_t count, const Take &take) const {
  const plan::ParameterT &parameter = *plan.parameters[index];
  const SavedTensor *tensor = checkpoint->findOfModel(parameter.name);
  plan::Element from = *findElement(tensor->dtype), to = storedElement(plan, parameter.bucket);
  CheckpointReader(*checkpoint).read(*tensor, begin, count, [&](const void *bytes, uint64_t some) {
    if (from == to)
      return take(bytes, some);
    std::vector<char> converted = convert(from, bytes, some / bytesOf(from), to);
    take(converted.data(), converted.size());
  });
}

} // namespace xlc::runtime
