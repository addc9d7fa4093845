// See Faults.h.
#include "Faults.h"

#include "Checkpoint/Ownership.h"
#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace xlc::runtime {
namespace {

constexpr size_t mostLabelsShown = 20;

/// Insertions, deletions and replacements between two words.
size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      size_t replaced = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The label that was meant: the first that contains the words, else the one with the fewest letters to change, if
/// they are few; else nothing.
std::string_view findNearest(std::string_view written, const std::vector<std::string_view> &labels) {
  std::string_view nearest;
  size_t fewest = std::max<size_t>(1, written.size() / 3) + 1;
  for (std::string_view label : labels) {
    if (label.find(written) != std::string_view::npos)
      return label;
    if (size_t distance = editDistance(written, label); distance < fewest)
      fewest = distance, nearest = label;
  }
  return nearest;
}

std::vector<std::string_view> actionsOf(const Plan &plan, int rank) {
  std::vector<std::string_view> labels;
  for (const auto &step : trainingProgramOf(plan, rank).steps)
    labels.push_back(step->label);
  return labels;
}

/// Names of the parameters that the rank's stage has gradients of.
std::vector<std::string_view> trainedOn(const Plan &plan, int rank) {
  std::vector<std::string_view> names;
  for (const auto &parameter : plan.parameters)
    if (plan.buckets[parameter->bucket]->group >= 0 && findRead(plan, rank, parameter->bucket)) {
      names.push_back(parameter->name);
      names.insert(names.end(), parameter->ties.begin(), parameter->ties.end());
    }
  return names;
}

/// Calls visit(key, offset) for each tensor of a checkpoint that the rank holds some of: where its first element lies.
void forEachHeldTensor(const Plan &plan, int rank,
                       const std::function<void(const std::string &key, uint64_t offset)> &visit) {
  std::vector<std::vector<size_t>> members = membersOfBuckets(plan);
  forEachState(plan, rank, [&](const HeldState &held) {
    if (!isSaved(plan, *held.row))
      return;
    for (size_t i : members[*held.row->bucket]) {
      const plan::ParameterT &parameter = *plan.parameters[i];
      uint64_t first = std::max(held.begin, parameter.offset);
      if (first < std::min(held.end, parameter.offset + parameter.elements))
        visit(describeTensor(plan, *held.row, parameter).key(), held.offsetOf(first));
    }
  });
}

/// What the fault may name, as text that lives as long as `keys`.
std::vector<std::string_view> listPlaces(const Plan &plan, const Fault &fault, std::vector<std::string> &keys) {
  if (fault.number)
    return trainedOn(plan, fault.rank);
  if (!fault.flips)
    return actionsOf(plan, fault.rank);
  forEachHeldTensor(plan, fault.rank, [&](const std::string &key, uint64_t) { keys.push_back(key); });
  return {keys.begin(), keys.end()};
}

} // namespace

void flipBit(const Plan &plan, const std::optional<Fault> &fault, int rank, uint64_t step, RankMemory memory) {
  if (!fault || !fault->flips || fault->rank != rank || fault->step != step)
    return;
  forEachHeldTensor(plan, rank, [&](const std::string &key, uint64_t offset) {
    if (key != fault->action)
      return;
    char byte = 0;
    memory.device->read(&byte, memory.arena + offset, 1);
    byte ^= 1;
    memory.device->write(memory.arena + offset, &byte, 1);
  });
}

void checkFault(const Plan &plan, const Fault &fault, uint64_t steps) {
  if (fault.step > steps)
    throw Rejected(
        fmt::format("error: --inject-fault: there is no step {}; the last step of this run is {}", fault.step, steps));
  if ((uint32_t)fault.rank >= rankCount(plan))
    throw Rejected(
        fmt::format("error: --inject-fault: there is no rank {}; ranks are 0 to {}", fault.rank, rankCount(plan) - 1));
  std::vector<std::string> keys;
  std::vector<std::string_view> labels = listPlaces(plan, fault, keys);
  if (std::find(labels.begin(), labels.end(), fault.action) != labels.end())
    return;
  std::string_view nearest = findNearest(fault.action, labels);
  std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  const char *what = fault.number ? "gradient of a parameter" : fault.flips ? "tensor" : "action";
  labels.resize(std::min(labels.size(), mostLabelsShown));
  throw Rejected(fmt::format("error: --inject-fault: there is no {} '{}'; the first valid names are '{}'{}{}", what,
                             fault.action, fmt::join(labels, "', '"), fault.isAction() ? " (--profile lists all)" : "",
                             hint));
}

} // namespace xlc::runtime
