// The predicted step of a pipeline stage for a report: slots of computations, and messages that are hidden or exposed.
#ifndef XLC_LIB_REPORT_HTML_TIMELINE_H
#define XLC_LIB_REPORT_HTML_TIMELINE_H

#include "Picture.h"

namespace xlc {

/// From the begin of a step, in parts of it: StageTimeline::kParts are a step.
struct Stretch {
  int64_t begin, end;
  int64_t length() const { return end - begin; }
};

/// Runs of one pass of one micro-batch that follow each other.
struct Slot : Stretch {
  StepPart part = StepPart::Other;
  std::optional<int64_t> microBatch;
};

struct StageTimeline {
  static constexpr int64_t kParts = 2000; ///< what is shorter than one part is not drawn

  std::vector<Slot> slots;
  std::vector<Stretch> hidden, exposed; ///< messages behind computations, and those that computations wait for
};

/// `actions` are those of a stage (timeStages), `step` the time of a step in the same unit.
StageTimeline makeTimeline(llvm::ArrayRef<TimedAction> actions, double step);

} // namespace xlc

#endif
