// See PredictStep.h. If the spec names no device, a floating-point operation takes a unit of time, and a message none.
#include "PredictStep.h"

using namespace mlir;
using namespace xlc;

PredictedStep xlc::predictStep(ModuleOp module, const Spec &spec, const Target &target) {
  PredictedStep predicted;
  predicted.isTime = spec.device.has_value();
  Clock clock(module, predicted.isTime ? *spec.device : workAlone(target.flopsPerByte()),
              predicted.isTime ? spec.threadsPerRankOrDefault() : 1);
  RunOrder order = predicted.isTime && spec.overlaps() ? RunOrder::Streams : RunOrder::List;
  SmallVector<exec::ProgramOp> programs = exec::programsOf(module);
  timeStages(programs, clock, order, &predicted.stages);
  for (const std::vector<TimedAction> &actions : predicted.stages)
    for (const TimedAction &action : actions)
      predicted.step = std::max(predicted.step, action.end);
  return predicted;
}
