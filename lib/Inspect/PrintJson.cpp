// Prints the inspection as JSON. The keys are a stable interface for scripts; docs/InspectJson.md lists them, and a
// test compares the two.
#include "xlc/Inspect/Inspect.h"
#include "xlc/Support/QuantityJson.h"

using namespace xlc;
using Json = nlohmann::ordered_json;

namespace {

Json toJson(const FileDescription &file, const std::map<std::string, int64_t> &dims, bool hasSizes) {
  Json json;
  json["nodes"] = file.nodes;
  json["inputs"] = Json::array();
  for (const auto &input : file.inputs)
    json["inputs"].push_back({{"name", input.name}, {"type", input.type}, {"shape", input.shape}});
  json["outputs"] = file.outputs;
  json["batch_dimension"] = file.batch.empty() ? Json() : Json(file.batch);
  json["dimensions"] = Json::array();
  for (const std::string &name : file.dims)
    json["dimensions"].push_back({{"name", name}, {"size", hasSizes ? Json(dims.at(name)) : Json()}});
  json["parameter_count"] = file.numParameterElements();
  json["parameters"] = Json::array();
  for (const auto &parameter : file.parameters)
    json["parameters"].push_back({{"name", parameter.name},
                                  {"shape", parameter.shape},
                                  {"name_from", parameter.origin},
                                  {"initializer", parameter.initializer.empty() ? Json() : Json(parameter.initializer)},
                                  {"guess", parameter.guess.empty() ? Json() : Json(parameter.guess)}});
  json["listed_parameters"] = file.listed.empty() ? Json() : Json(file.listed.size());
  json["lost_parameters"] = file.lost;
  json["ties"] = Json::array();
  for (const auto &tie : file.ties)
    json["ties"].push_back({{"name", tie.name}, {"parameter", tie.parameter}});
  json["buffers"] = Json::array();
  for (const auto &buffer : file.buffers)
    json["buffers"].push_back({{"name", buffer.name}, {"shape", buffer.shape}, {"type", buffer.type}});
  json["frozen"] = Json::array();
  for (const auto &constant : file.constants)
    json["frozen"].push_back(
        {{"name", constant.name}, {"shape", constant.shape}, {"operator", constant.op}, {"module", constant.module}});
  json["dropouts_off"] = file.dropoutsOff;
  json["undone"] = file.undone;
  json["operators"] = Json::array();
  for (const auto &op : file.operators)
    json["operators"].push_back(
        {{"name", op.name}, {"count", op.count}, {"supported", op.isSupported}, {"first_node", op.firstNode}});
  return json;
}

} // namespace

void xlc::printJson(const Inspection &inspection, llvm::StringRef model, llvm::raw_ostream &out) {
  Json json = {{"model", model.str()}};
  json.update(toJson(inspection.file, inspection.dims, inspection.hasFigures));
  auto flops = [&](Quantity count) { return inspection.hasFigures ? Json(count) : Json(); };
  json["units"] = Json::array();
  for (const UnitDescription &unit : inspection.units)
    json["units"].push_back({{"class", unit.className},
                             {"instances", unit.instances},
                             {"ops", unit.ops},
                             {"parameter_count", unit.parameters},
                             {"forward_flops", flops(unit.forward)},
                             {"backward_flops", flops(unit.backward)}});
  json["recognised"] = inspection.recognised;
  json["sites"] = Json::array();
  for (const Site &site : inspection.sites)
    json["sites"].push_back({{"node", site.node},
                             {"operator", site.op},
                             {"ratio", site.ratio ? Json(*site.ratio) : Json()},
                             {"shape", site.shape}});
  json["forward_flops"] = flops(inspection.forward);
  json["backward_flops"] = flops(inspection.backward);
  std::string complaints;
  llvm::raw_string_ostream stream(complaints);
  for (const Message &message : inspection.complaints.empty() ? inspection.file.complaints : inspection.complaints)
    stream << message;
  json["complaints"] = complaints;
  out << dumpReport(json) << "\n";
}
