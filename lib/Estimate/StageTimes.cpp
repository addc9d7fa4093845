// Each stage goes through its runs and messages; a message happens when both of its stages have come to it.
#include "xlc/Estimate/StageTimes.h"
#include "xlc/Estimate/Cost.h"

using namespace mlir;
using namespace xlc;

namespace {

/// A run of some time, or a message to or from another stage.
struct Event {
  Quantity time;
  int64_t message = -1, peer = -1;
  exec::RunOp run;
};

std::vector<Event> listEvents(exec::ProgramOp program, FunctionCosts &costs, Quantity flopsPerByte) {
  std::vector<Event> events;
  for (Operation &op : program.getBody().front()) {
    if (auto run = dyn_cast<exec::RunOp>(op)) {
      const Cost &cost = costs.of(run.getFunction());
      if (run.getRole() != graph::Role::U)
        events.push_back({std::max<Quantity>(cost.flops, flopsPerByte * cost.bytes), -1, -1, run});
    }
    if (auto send = dyn_cast<exec::SendOp>(op))
      events.push_back({0, int64_t(send.getMessage()), int64_t(send.getPeer()), {}});
    if (auto receive = dyn_cast<exec::ReceiveOp>(op))
      events.push_back({0, int64_t(receive.getMessage()), int64_t(receive.getPeer()), {}});
  }
  return events;
}

} // namespace

std::vector<StageTime> xlc::timeStages(ArrayRef<exec::ProgramOp> programs, Quantity flopsPerByte,
                                       std::vector<std::vector<TimedRun>> *runs) {
  if (programs.empty())
    return {};
  FunctionCosts costs(exec::ProgramOp(programs.front())->getParentOfType<ModuleOp>());
  std::vector<std::vector<Event>> events;
  for (exec::ProgramOp program : programs)
    events.push_back(listEvents(program, costs, flopsPerByte));
  size_t stages = events.size();
  std::vector<StageTime> times(stages);
  if (runs)
    runs->assign(stages, {});
  std::vector<size_t> next(stages, 0);
  std::vector<Quantity> now(stages, 0), first(stages, -1), last(stages, 0);
  auto meets = [&](size_t stage, const Event &event) {
    size_t peer = event.peer;
    return peer < stages && next[peer] < events[peer].size() && events[peer][next[peer]].message == event.message;
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t stage = 0; stage < stages; ++stage)
      for (; next[stage] < events[stage].size(); isMoving = true) {
        const Event &event = events[stage][next[stage]];
        if (event.message >= 0) {
          if (!meets(stage, event))
            break;
          now[stage] = now[event.peer] = std::max(now[stage], now[event.peer]);
          ++next[event.peer];
        } else {
          first[stage] = first[stage] < 0 ? now[stage] : first[stage];
          now[stage] += event.time;
          last[stage] = now[stage];
          times[stage].busy += event.time;
          if (exec::RunOp run = event.run; runs)
            (*runs)[stage].push_back(
                {run.getLabel().str(), int64_t(run.getMicroBatch()), now[stage] - event.time, now[stage]});
        }
        ++next[stage];
      }
  }
  for (size_t stage = 0; stage < stages; ++stage) {
    times[stage].span = last[stage] - std::max<Quantity>(0, first[stage]);
    times[stage].step = *llvm::max_element(last);
  }
  return times;
}
