// Replays captured steps. All steps have the same list of actions at the same addresses. They differ only in the rows
// and scalars that the host writes.
//
//     step 1, 2   action by action: libraries load, connect and allocate
//     step 3, 4   captured, one in each of the device's slots; then replayed
//     step 5 ...  the host's writes, for the slot whose last step has ended; then replayed
//
// NCCL requires that a collective is captured by all of its ranks or by none. All ranks therefore meet after a capture:
// if one of them has failed, no rank captures again. A step with an injected fault runs action by action on all ranks.
#include "Executor.h"

#include <fmt/format.h>

#include <utility>

namespace xlc::runtime {

/// Whether an action is nothing but what the host writes.
static bool isByHost(plan::Action action) { return action == plan::Action::Begin || action == plan::Action::Load; }

void Executor::enterGraph() { enterAction(main, Position::graph); }

bool Executor::isReplayed() {
  constexpr uint64_t first = 3;
  if (!replays.areUsed || round < first || isPeriodicallyObserved(step) || (job.fault && job.fault->step == step))
    return false;
  if (!replays.isCaptured[replaySlot()])
    captureStep();
  return replays.areUsed;
}

/// Counts nothing as moved: that is the replay's.
void Executor::captureStep() {
  MovedByAxis before = main.moved;
  try {
    enterGraph();
    device.beginCapture(replaySlot());
    runLane(main);
    enterGraph();
    device.endCapture();
  } catch (const ExchangeFailure &failure) {
    device.cancelCapture();
    throw ExchangeFailure(
        fmt::format("{}, while the step is captured as a CUDA graph (--graph off disables this)", failure.what()));
  } catch (const DeviceFailure &failure) {
    device.cancelCapture();
    if (job.captureFailed->exchange(1) == 0)
      job.warn(fmt::format("warning: {}: cannot be captured as a CUDA graph: {}; training continues without graphs",
                           describePosition(), failure.what()));
  } catch (...) {
    device.cancelCapture(); // as its thread alone may
    throw;
  }
  replays.moved = main.moved;
  replays.moved -= before;
  main.moved = before;
  job.fabric.meet(&main.pulse);
  replays.areUsed = *job.captureFailed == 0;
}

void Executor::replayStep() {
  if (std::exchange(replays.isCaptured[replaySlot()], true)) {
    enterGraph();
    device.beginReplay(replaySlot());
    for (uint64_t index : main.steps)
      if (const plan::StepT &next = *program.steps[index]; isByHost(next.action.type)) {
        enterAction(main, index);
        doAction(main, next);
      }
  }
  enterGraph();
  device.replay(replaySlot());
  main.moved += replays.moved;
}

void Executor::repeatStep(uint64_t number, const DataSource &from, Observer &by) {
  data = &from, observer = &by, replays.areUsed = false;
  step = number;
  if (!scale) // else the factor stays, which the end of the step has moved
    clock = clockOfStep();
  runOnce();
}

} // namespace xlc::runtime
