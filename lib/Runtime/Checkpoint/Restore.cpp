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

void compareTensors(const Plan &plan, const Manifest &manifest, Differences &differences) {
  std::map<std::string, const SavedTensor *> there;
  for (const SavedTensor &tensor : manifest.tensors)
    if (tensor.isOfModel())
      there.emplace(tensor.name, &tensor);
  for (const SavedTensor &tensor : listTensors(plan)) {
    if (!tensor.isOfModel())
      continue;
    auto found = there.find(tensor.name);
    if (found == there.end())
      differences.add("it has no {} '{}'", tensor.kind, tensor.name);
    else if (found->second->shape != tensor.shape)
      differences.add("'{}' has shape [{}] in the checkpoint, but the program needs [{}]", tensor.name,
                      fmt::join(found->second->shape, ", "), fmt::join(tensor.shape, ", "));
    if (found != there.end())
      there.erase(found);
  }
  for (const auto &parameter : plan.parameters)
    for (const std::string &tie : parameter->ties)
      there.erase(tie);
  for (const auto &[name, tensor] : there)
    differences.add("it has a {} '{}', but the program does not", tensor->kind, name);
}

std::string listOf(const std::vector<std::string> &names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The elements of a state that were read; what lies between them pads the bucket, or no file has it.
class Filled {
public:
  void add(uint64_t at, uint64_t count) {
    if (!runs.empty() && runs.back().end == at)
      runs.back().end += count;
    else
      runs.push_back({at, at + count});
    total += count;
  }
  uint64_t count() const { return total; }
  /// Calls visit(at, count) for what lies between them in [begin, end).
  template <class Visit> void forEachGap(uint64_t begin, uint64_t end, Visit visit) {
    std::ranges::sort(runs, {}, &Run::begin);
    for (const Run &run : runs) {
      if (begin < run.begin)
        visit(begin, run.begin - begin);
      begin = run.end;
    }
    if (begin < end)
      visit(begin, end - begin);
  }

private:
  struct Run {
    uint64_t begin, end;
  };
  std::vector<Run> runs;
  uint64_t total = 0;
};

/// Reads elements [inWhole, inWhole + count) of a tensor to where a state of a bucket has them, from element `at` on,
/// in its type.
void readRun(CheckpointReader &reader, const SavedTensor &tensor, uint64_t inWhole, uint64_t count,
             const HeldState &held, uint64_t at, RankMemory memory) {
  plan::Element from = *findElement(tensor.dtype);
  if (memory.isOfHost && from == held.row->element)
    return reader.readTo(tensor, inWhole, count, memory.arena + held.offsetOf(at));
  writeRun(held, at, memory, from, [&](const Take &take) { reader.read(tensor, inWhole, count, take); });
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
    differences.add("its optimizer is {}, but the program's optimizer is {}", manifest.optimizer, plan.optimizer);
  std::vector<std::string> has = manifest.states, needs = listOptimizerStates(plan);
  std::ranges::sort(has);
  if (has != needs)
    differences.add("its optimizer states are {}, but the program's are {}", listOf(has), listOf(needs));
  compareTensors(plan, manifest, differences);
  return differences.describe();
}

Restored restoreStates(const Plan &plan, const Checkpoint &checkpoint, int rank, RankMemory memory) {
  CheckpointReader reader(checkpoint);
  Restored restored;
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<size_t>> members = membersOfBuckets(plan);
  forEachState(plan, rank, [&](const HeldState &held) {
    Filled filled;
    bool isRestored = held.row->begins == plan::Beginning::Parameters || held.row->kind == plan::StateKind::Optimizer;
    for (size_t i : isRestored ? members[*held.row->bucket] : std::vector<size_t>()) {
      const plan::ParameterT &parameter = *plan.parameters[i];
      const SavedTensor *tensor = sourceOf(checkpoint, *held.row, parameter.name);
      if (!tensor)
        continue; // a state that a frozen parameter has not
      uint64_t before = filled.count();
      memberOf(plan, parameter, rank).forEachRun(held.begin, held.end, [&](uint64_t at, uint64_t inWhole, uint64_t n) {
        filled.add(at, n);
        readRun(reader, *tensor, inWhole, n, held, at, memory);
      });
      restored.held += isSaved(plan, *held.row) ? (filled.count() - before) * dtypeBytes(tensor->dtype) : 0;
    }
    filled.forEachGap(held.begin, held.end, [&](uint64_t at, uint64_t count) {
      memory.device->fill(memory.arena + held.offsetOf(at), 0, count * bytesOf(held.row->element));
    });
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
    throw Rejected(fmt::format("{}: error: belongs to a different model: {}", checkpoint->folder, why));
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
