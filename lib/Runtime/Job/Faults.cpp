// See Faults.h.
#include "Faults.h"

#include "Failure.h"
#include "State/States.h"

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

} // namespace

void checkFault(const Plan &plan, const Fault &fault, uint64_t steps) {
  if (fault.step > steps)
    throw Rejected(fmt::format("error: --inject-fault: there is no step {}, steps are 1 to {}", fault.step, steps));
  if ((uint32_t)fault.rank >= rankCount(plan))
    throw Rejected(
        fmt::format("error: --inject-fault: there is no rank {}, ranks are 0 to {}", fault.rank, rankCount(plan) - 1));
  std::vector<std::string_view> labels = fault.number ? trainedOn(plan, fault.rank) : actionsOf(plan, fault.rank);
  if (std::find(labels.begin(), labels.end(), fault.action) != labels.end())
    return;
  std::string_view nearest = findNearest(fault.action, labels);
  std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  labels.resize(std::min(labels.size(), mostLabelsShown));
  throw Rejected(fmt::format("error: --inject-fault: there is no {} '{}'; the first are '{}'{}{}",
                             fault.number ? "gradient of a parameter" : "action", fault.action,
                             fmt::join(labels, "', '"), fault.number ? "" : " (--profile writes all)", hint));
}

} // namespace xlc::runtime
