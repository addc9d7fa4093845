// See Stats.h. Moved bytes are summed over all ranks: the short last slice of an all_reduce makes ranks differ.
#include "Stats.h"

#include "Failure.h"
#include "Files/OutputFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace xlc::runtime {
namespace {

/// A figure under its name, as planned and as used.
struct Figure {
  std::string name;
  uint64_t planned, used;
  std::string unit = " bytes";
};

/// Messages along dp have the bare name of their kind, the others that of their axis before it.
std::vector<Figure> compare(const Plan &plan, const UsedResources &used) {
  uint64_t arenas = 0;
  for (uint32_t stage = 0; stage < plan.mesh->pp(); ++stage)
    arenas += findProgram(plan, plan::Purpose::train, stage)->arena * stageRanks(plan);
  std::vector<Figure> figures{{"arena", arenas, used.allocatedBytes}};
  MovedByAxis planned;
  for (const auto &traffic : plan.traffic)
    planned[traffic->axis] +=
        {traffic->all_gather, traffic->reduce_scatter, traffic->all_reduce, traffic->transfer, traffic->all_to_all};
  for (plan::Axis axis : plan::EnumValuesAxis()) {
    const MovedBytes &should = planned[axis], &is = used.moved[axis];
    auto add = [&](const char *kind, uint64_t a, uint64_t b) {
      if (axis == plan::Axis::dp)
        figures.push_back({kind, a * used.steps, b});
      else if (a || b)
        figures.push_back({fmt::format("{} {}", EnumNameAxis(axis), kind), a * used.steps, b});
    };
    add("all_gather", should.allGather, is.allGather);
    add("reduce_scatter", should.reduceScatter, is.reduceScatter);
    add("all_reduce", should.allReduce, is.allReduce);
    if (should.allToAll || is.allToAll)
      add("all_to_all", should.allToAll, is.allToAll);
    if (axis != plan::Axis::dp)
      add("transfer", should.transfer, is.transfer);
  }
  for (uint64_t rank = 0; rank < used.residualSlots.size(); rank += stageRanks(plan)) {
    auto first = used.residualSlots.begin() + rank;
    uint64_t most = *std::max_element(first, first + stageRanks(plan));
    std::string stage = plan.mesh->pp() > 1 ? fmt::format(" of stage {}", rank / stageRanks(plan)) : "";
    figures.push_back({"residual_slots" + stage, trainingProgramOf(plan, (int)rank).residual_slots, most, ""});
  }
  figures.push_back({"data", plan.dataset->ahead, used.bytesAhead});
  return figures;
}

} // namespace

uint64_t readPeakResident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

void UsedResources::add(const RankReport &rank) {
  allocatedBytes += rank.allocatedBytes, peakResidentBytes += rank.peakResidentBytes;
  bytesAhead = std::max(bytesAhead, rank.bytesAhead), rowSum += rank.rowSum;
  residualSlots.push_back(rank.peakSlots), restored.push_back(rank.restored);
  moved += rank.moved;
}

std::string findDisagreement(const Plan &plan, const UsedResources &used) {
  for (const Figure &figure : compare(plan, used))
    if (figure.planned != figure.used)
      return fmt::format("the run differs from the plan: {}{} planned for {}, {} used in {} step{}", figure.planned,
                         figure.unit, figure.name, figure.used, used.steps, used.steps == 1 ? "" : "s");
  return "";
}

void writeStats(const std::string &path, const Plan &plan, const UsedResources &used) {
  nlohmann::ordered_json json;
  json["ranks"] = rankCount(plan);
  json["steps"] = used.steps;
  for (const Figure &figure : compare(plan, used))
    json[figure.name] = {{"planned", figure.planned}, {"used", figure.used}};
  json["outside"] = {{"planned", plan.outside}};
  for (const OutsideBytes &line : used.outside)
    json["outside"]["measured"][line.name] = line.bytes;
  json["rows"] = {{"samples", used.steps * globalBatch(plan)}, {"sum", fmt::format("{:016x}", used.rowSum)}};
  uint64_t nanoseconds = std::ranges::max(used.restored, {}, &Restored::nanoseconds).nanoseconds;
  if (nanoseconds > 0) {
    json["resume"] = {{"seconds", (double)nanoseconds * 1e-9}, {"ranks", nlohmann::ordered_json::array()}};
    for (const Restored &rank : used.restored)
      json["resume"]["ranks"].push_back({{"read", rank.read}, {"held", rank.held}});
  }
  json["vm_hwm"] = used.peakResidentBytes;
  OutputFile file(path, Devices::WrittenTo);
  file.write(json.dump(1) + "\n");
  file.publish();
}

} // namespace xlc::runtime
