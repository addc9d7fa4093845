// The predicted timeline of a step: simulates the programs of all stages together, with durations from a Clock.
//
//   compute   | F0      | F1      | wait | B1        | ...
//   gather    | g1   | g2    |  g0      |
//              hidden           `-- exposed: compute waits for it
//
// The actions of a stream run in their order, each after the actions it depends on (exec.program). Alternatively all
// actions of a rank run as one list. A transfer or a sum over stages starts when all its ranks have reached it. All
// ranks of a stage behave the same, so one represents all.
#ifndef XLC_ESTIMATE_STEPTIMES_H
#define XLC_ESTIMATE_STEPTIMES_H

#include "xlc/Estimate/Clock.h"

namespace xlc {

/// Messages of one kind, in seconds.
struct MessageTime {
  double predicted = 0; ///< their duration
  double exposed = 0;   ///< the part for which computations wait

  double hidden() const { return predicted - exposed; }
};

/// The ranks of a stage in a step, in seconds. compute + exposed messages + waiting = step.
struct StageTime {
  double compute = 0;                                                        ///< runs, without their exchanges
  std::array<double, kKernelWorks> kernels = {};                             ///< the parts of `compute`, by KernelWork
  std::array<MessageTime, exec::getMaxEnumValForStream() + 1> messages = {}; ///< by exec::Stream
  MessageTime tensor;                                                        ///< within runs: always exposed
  double waiting = 0;                                                        ///< for other stages
  double step = 0;                                                           ///< the same for all stages
  double busy = 0, begin = -1, end = 0;                                      ///< of forward and backward
  double lastEnd = 0;                                                        ///< the largest `end` of all stages

  MessageTime &of(exec::Stream stream) { return messages[size_t(stream)]; }
  double exposed() const;
  /// The idle fraction between the first forward and the last backward of the stage, and between those of all stages: 0
  /// to 1.
  double spanBubble() const { return end > begin ? 1 - busy / (end - std::max(begin, 0.0)) : 0; }
  double stepBubble() const { return lastEnd > 0 ? 1 - busy / lastEnd : 0; }
};

/// An action; times are in seconds from the start of the step.
struct TimedAction {
  size_t number;                     ///< of the action in its program
  std::string label;                 ///< "layer[3] B"
  std::optional<int64_t> microBatch; ///< of a unit's run
  std::optional<graph::Role> role;   ///< of a run
  exec::Stream stream;
  double begin, end;
};

/// The order in which the actions of a rank run.
enum class RunOrder { List, Streams };

/// Simulates the programs of all stages. The result is indexed by stage. If `actions` is given, it receives the actions
/// of each stage that take time.
std::vector<StageTime> timeStages(llvm::ArrayRef<exec::ProgramOp> programs, Clock &clock, RunOrder order,
                                  std::vector<std::vector<TimedAction>> *actions = nullptr);

/// A device on which a floating-point operation takes one second and a message takes no time, for results that follow
/// from computed work alone.
Device workAlone(Quantity flopsPerByte);

} // namespace xlc

#endif
