// See Stats.h. Bytes moved are sums over all ranks: the short last slice of an all_reduce makes ranks differ.
#include "Stats.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace xlc::runtime {
namespace {

/// A figure under its name, as planned and as used.
struct Figure {
  const char *name;
  uint64_t planned, used;
};

std::vector<Figure> compare(const Plan &plan, const UsedResources &used) {
  const plan::TrafficT &traffic = *plan.traffic;
  return {{"arena", plan.arena * plan.ranks, used.allocatedBytes},
          {"all_gather", traffic.all_gather * used.steps, used.moved.allGather},
          {"reduce_scatter", traffic.reduce_scatter * used.steps, used.moved.reduceScatter},
          {"all_reduce", traffic.all_reduce * used.steps, used.moved.allReduce}};
}

/// Peak resident bytes of the process, from the kernel.
uint64_t readPeakResident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

} // namespace

std::string findDisagreement(const Plan &plan, const UsedResources &used) {
  for (const Figure &figure : compare(plan, used))
    if (figure.planned != figure.used)
      return fmt::format("the plan and the run disagree: {} bytes planned for {}, {} used in {} steps", figure.planned,
                         figure.name, figure.used, used.steps);
  return "";
}

void writeStats(const std::string &path, const Plan &plan, const UsedResources &used) {
  nlohmann::ordered_json json;
  json["ranks"] = plan.ranks;
  json["steps"] = used.steps;
  for (const Figure &figure : compare(plan, used))
    json[figure.name] = {{"planned", figure.planned}, {"used", figure.used}};
  json["outside"] = {{"planned", plan.outside}};
  json["vm_hwm"] = readPeakResident();
  std::ofstream file(path);
  if (!(file << json.dump(1) << "\n").flush())
    throw Rejected(fmt::format("{}: error: cannot be written", path));
}

} // namespace xlc::runtime
