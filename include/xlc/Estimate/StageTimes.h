// How evenly a pipeline's stages are at work: their programs run against each other in predicted time.
#ifndef XLC_ESTIMATE_STAGETIMES_H
#define XLC_ESTIMATE_STAGETIMES_H

#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Support/Quantity.h"

namespace xlc {

/// Forward and backward of one stage's ranks in a step, in times of one floating-point operation.
struct StageTime {
  Quantity busy; ///< at work
  Quantity span; ///< from the first run to the end of the last
  Quantity step; ///< of the whole pipeline

  /// The idle part of the span, and of the step: 0 to 1.
  double spanBubble() const { return span ? 1 - double(busy) / double(span) : 0; }
  double stepBubble() const { return step ? 1 - double(busy) / double(step) : 0; }
};

/// A run of a unit, in the same times from the begin of the step: "layer[3] B" of a micro-batch.
struct TimedRun {
  std::string label;
  int64_t microBatch;
  Quantity begin, end;
};

/// The programs of all stages, by stage. A run takes as long as its kernels compute, or move bytes, as
/// fast as the target does (Target::flopsPerByte); a message takes no
/// time, but both sides wait for it. `runs`, where given, becomes the runs of each stage, in order.
std::vector<StageTime> timeStages(llvm::ArrayRef<exec::ProgramOp> programs, Quantity flopsPerByte,
                                  std::vector<std::vector<TimedRun>> *runs = nullptr);

} // namespace xlc

#endif
