// The predicted timeline of a step, for a trace viewer: a process per pipeline stage, a row per stream. Where the spec names no
// device, time is counted in floating-point operations; a microsecond of the trace then stands for a million of them.
#include "xlc/Estimate/StepTimes.h"
#include "xlc/Report/Report.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace xlc;
using Json = nlohmann::json;

namespace {

constexpr double kOperationsPerMicrosecond = 1e6, kMicrosecondsPerSecond = 1e6;

Json nameRow(const char *what, size_t stage, size_t row, const std::string &name) {
  return {{"ph", "M"}, {"name", what}, {"pid", stage}, {"tid", row}, {"args", {{"name", name}}}};
}

Json toJson(const TimedAction &action, size_t stage, double unit) {
  bool isRun = action.microBatch.has_value();
  return {{"ph", "X"},
          {"name", isRun ? action.label + ", micro-batch " + std::to_string(*action.microBatch) : action.label},
          {"cat", isRun ? "run" : exec::stringifyStream(action.stream).str()},
          {"pid", stage},
          {"tid", size_t(action.stream)},
          {"ts", action.begin * unit},
          {"dur", (action.end - action.begin) * unit}};
}

} // namespace

void xlc::printTrace(ModuleOp module, const Spec &spec, const Target &target, llvm::raw_ostream &out) {
  SmallVector<exec::ProgramOp> programs = exec::programsOf(module);
  Clock clock(module, spec.device ? *spec.device : workAlone(target.flopsPerByte()),
              spec.device ? spec.threadsPerRankOrDefault() : 1);
  bool overlaps = spec.device && spec.overlaps();
  double unit = spec.device ? kMicrosecondsPerSecond : 1 / kOperationsPerMicrosecond;
  std::vector<std::vector<TimedAction>> actions;
  timeStages(programs, clock, overlaps ? RunOrder::Streams : RunOrder::List, &actions);
  Json events = Json::array();
  for (auto [stage, list] : llvm::enumerate(actions)) {
    events.push_back(nameRow("process_name", stage, 0, "stage " + std::to_string(stage)));
    for (const TimedAction &action : list)
      events.push_back(toJson(action, stage, unit));
    for (size_t row = 0; row <= exec::getMaxEnumValForStream(); ++row)
      if (llvm::any_of(list, [&](const TimedAction &action) { return size_t(action.stream) == row; }))
        events.push_back(nameRow("thread_name", stage, row, exec::stringifyStream(exec::Stream(row)).str()));
  }
  std::string meaning =
      spec.device ? "predicted on " + spec.device->name : "predicted: 1 us is 1e6 floating-point operations";
  Json trace{{"traceEvents", events}, {"otherData", {{"unit", meaning}}}};
  out << trace.dump(1) << "\n";
}
