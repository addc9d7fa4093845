// The predicted timeline of a step, for pictures and traces.
#ifndef XLC_LIB_REPORT_PREDICTSTEP_H
#define XLC_LIB_REPORT_PREDICTSTEP_H

#include "xlc/Estimate/StepTimes.h"
#include "xlc/Spec/Spec.h"
#include "xlc/Target/Target.h"

namespace xlc {

struct PredictedStep {
  std::vector<std::vector<TimedAction>> stages; ///< the actions of each that take time
  double step = 0;                              ///< the end of the last one
  bool isTime = false;                          ///< in seconds of the spec's device; else in floating-point operations
};

/// Requires `module` as it is after Memory.
PredictedStep predictStep(mlir::ModuleOp module, const Spec &spec, const Target &target);

} // namespace xlc

#endif
