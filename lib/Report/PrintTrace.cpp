// The predicted timeline of a step, for a trace viewer: a process per pipeline stage, a row per stream, and counters of
// memory by cause and of the link. If the spec names no device, time is counted in floating-point operations; a
// microsecond of the trace then represents a million of them.
#include "Moments.h"
#include "PredictStep.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Report/Report.h"
#include "llvm/ADT/TypeSwitch.h"
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

Json counter(const char *name, size_t stage, double time, Json values) {
  return {{"ph", "C"}, {"name", name}, {"pid", stage}, {"ts", time}, {"args", std::move(values)}};
}

/// Bytes that a rank of the stage reads or writes in an action that is a message; 0 of others.
Quantity bytesOf(exec::Action action, dist::MeshAttr mesh, int64_t stage) {
  return llvm::TypeSwitch<Operation *, Quantity>(action)
      .Case([&](exec::ExchangeOp exchange) {
        return bytesRead(exchange.getExchange(), mesh, stage * mesh.getStageRanks());
      })
      .Case<exec::SendOp, exec::ReceiveOp>([](auto transfer) { return Quantity(transfer.getBytes()); })
      .Default([](Operation *) { return Quantity(); });
}

/// Where an action begins: bytes by cause of its fullest moment. Where a message begins and ends: bytes per second of
/// the link.
void addCounters(exec::ProgramOp program, ArrayRef<TimedAction> actions, double unit, bool isTime, Json &events) {
  std::vector<exec::Action> all;
  for (auto action : program.getBody().front().getOps<exec::Action>())
    all.push_back(action);
  std::vector<std::array<int64_t, 6>> memory = memoryOfActions(program);
  int64_t stage = program.getStage();
  for (const TimedAction &action : actions) {
    Json causes;
    for (auto [cause, bytes] : llvm::enumerate(memory[action.number]))
      causes[exec::stringifyCause(exec::Cause(cause)).str()] = bytes;
    events.push_back(counter("memory, bytes", stage, action.begin * unit, causes));
    if (Quantity bytes = bytesOf(all[action.number], program.getMesh(), stage); bytes && isTime) {
      double rate = double(bytes) / (action.end - action.begin);
      events.push_back(counter("link, bytes per second", stage, action.begin * unit, {{"rate", rate}}));
      events.push_back(counter("link, bytes per second", stage, action.end * unit, {{"rate", 0}}));
    }
  }
}

} // namespace

void xlc::printTrace(ModuleOp module, const Spec &spec, const Target &target, llvm::raw_ostream &out) {
  PredictedStep predicted = predictStep(module, spec, target);
  double unit = predicted.isTime ? kMicrosecondsPerSecond : 1 / kOperationsPerMicrosecond;
  SmallVector<exec::ProgramOp> programs = exec::programsOf(module);
  Json events = Json::array();
  for (auto [stage, list] : llvm::enumerate(predicted.stages)) {
    events.push_back(nameRow("process_name", stage, 0, "stage " + std::to_string(stage)));
    for (const TimedAction &action : list)
      events.push_back(toJson(action, stage, unit));
    for (size_t row = 0; row <= exec::getMaxEnumValForStream(); ++row)
      if (llvm::any_of(list, [&](const TimedAction &action) { return size_t(action.stream) == row; }))
        events.push_back(nameRow("thread_name", stage, row, exec::stringifyStream(exec::Stream(row)).str()));
    addCounters(programs[stage], list, unit, predicted.isTime, events);
  }
  std::string meaning =
      spec.device ? "predicted on " + spec.device->name : "predicted: 1 us is 1e6 floating-point operations";
  Json trace{{"traceEvents", events}, {"otherData", {{"unit", meaning}}}};
  out << trace.dump(1) << "\n";
}
