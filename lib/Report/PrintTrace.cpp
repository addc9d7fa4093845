// The predicted timeline of a step, for a trace viewer: a row per pipeline stage. No device is named, so time is
// counted in floating-point operations; a microsecond of the trace stands for a million of them.
#include "xlc/Estimate/StageTimes.h"
#include "xlc/Report/Report.h"
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace xlc;

constexpr double operationsPerMicrosecond = 1e6;

void xlc::printTrace(ModuleOp module, const Target &target, llvm::raw_ostream &out) {
  SmallVector<exec::ProgramOp> programs(module.getOps<exec::ProgramOp>());
  std::vector<std::vector<TimedRun>> runs;
  timeStages(programs, target.flopsPerByte(), &runs);
  nlohmann::json events = nlohmann::json::array();
  for (auto [stage, list] : llvm::enumerate(runs)) {
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", stage},
                      {"args", {{"name", "stage " + std::to_string(stage)}}}});
    for (const TimedRun &run : list)
      events.push_back({{"ph", "X"},
                        {"name", run.label + ", micro-batch " + std::to_string(run.microBatch)},
                        {"cat", "run"},
                        {"pid", stage},
                        {"tid", 0},
                        {"ts", double(run.begin) / operationsPerMicrosecond},
                        {"dur", double(run.end - run.begin) / operationsPerMicrosecond}});
  }
  nlohmann::json trace{{"traceEvents", events},
                       {"otherData", {{"unit", "predicted: 1 us is 1e6 floating-point operations"}}}};
  out << trace.dump(1) << "\n";
}
