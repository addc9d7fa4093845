// A step in predicted time: the programs of all stages run against each other, each action as long as a Clock says.
//
//   compute   | F0      | F1      | wait | B1        | ...
//   gather    | g1   | g2    |  g0      |
//              hidden           `-- exposed: compute waits for it
//
// The actions of a stream run in their order, each when those that it comes after have ended (exec.program); or all actions of
// a rank are one list. A transfer or a sum over stages begins when all its sides have come to it. Ranks of a stage do the
// same, so one stands for all.
#ifndef XLC_ESTIMATE_STEPTIMES_H
#define XLC_ESTIMATE_STEPTIMES_H

#include "xlc/Estimate/Clock.h"

namespace xlc {

/// Messages of one kind, in seconds.
struct MessageTime {
  double predicted = 0; ///< how long they take
  double exposed = 0;   ///< of these, what computations wait for

  double hidden() const { return predicted - exposed; }
};

/// A stage's ranks in a step, in seconds. compute + what is exposed + waiting = step.
struct StageTime {
  double compute = 0;                                                        ///< runs, without what they exchange
  std::array<double, kKernelWorks> kernels = {};                             ///< of which, by KernelWork
  std::array<MessageTime, exec::getMaxEnumValForStream() + 1> messages = {}; ///< by exec::Stream
  MessageTime tensor;                                                        ///< in the middle of runs: exposed
  double waiting = 0;                                                        ///< for other stages
  double step = 0;                                                           ///< the same for all stages
  double busy = 0, begin = -1, end = 0;                                      ///< of forward and backward
  double lastEnd = 0;                                                        ///< the largest `end` of all stages

  MessageTime &of(exec::Stream stream) { return messages[size_t(stream)]; }
  double exposed() const;
  /// The idle part between the first forward and the last backward, and of all stages' forwards and backwards: 0 to 1.
  double spanBubble() const { return end > begin ? 1 - busy / (end - std::max(begin, 0.0)) : 0; }
  double stepBubble() const { return lastEnd > 0 ? 1 - busy / lastEnd : 0; }
};

/// An action in seconds from the begin of the step.
struct TimedAction {
  size_t number;                     ///< of the action in its program
  std::string label;                 ///< "layer[3] B"
  std::optional<int64_t> microBatch; ///< of a unit's run
  std::optional<graph::Role> role;   ///< of a run
  exec::Stream stream;
  double begin, end;
};

/// How the actions of a rank run.
enum class RunOrder { List, Streams };

/// The programs of all stages, by stage. `actions`, where given, becomes those of each stage that take time.
std::vector<StageTime> timeStages(llvm::ArrayRef<exec::ProgramOp> programs, Clock &clock, RunOrder order,
                                  std::vector<std::vector<TimedAction>> *actions = nullptr);

/// A device of which one floating-point operation is a second, and a message takes no time: for what follows from computed
/// work alone.
Device workAlone(Quantity flopsPerByte);

} // namespace xlc

#endif
