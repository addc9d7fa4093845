// Runs the program of one rank for one purpose: a small loop over the plan's timeline, or one loop for each of its
// streams.
//
//   inline     one thread runs the list from first to last
//   threads    the rank's own thread runs the actions on `compute`, one thread each those of the other streams; an
//              action begins when all actions of its `after` have ended in this step, and a step ends when all streams
//              have ended
//
// A device that captures steps (Device.h) receives the list action by action in the first steps. Later steps are one
// request each, and of the list only the host's writes remain (StepReplay.cpp).
//
// All variants give the same bits: actions that access the same bytes are ordered (VerifyStreams), and sums over ranks
// run in the order of the ranks.
//
// Precondition: one thread runs all functions. The table of slots and operands is shared by all lanes, and only
// functions use it. ProgramChecker::checkStream rejects a CPU plan that runs a function on a stream other than
// `compute`. A GPU plan may do so (stream `weights`); it runs inline, which the check also ensures.
#ifndef XLC_LIB_RUNTIME_DEVICE_EXECUTOR_H
#define XLC_LIB_RUNTIME_DEVICE_EXECUTOR_H

#include "Checker.h"
#include "DataSource.h"
#include "Fabric/Fabric.h"
#include "Failure.h"
#include "LossScale.h"
#include "Observer.h"
#include "Plan/ResidualSlots.h"
#include "Trace.h"

#include <functional>
#include <memory>
#include <thread>

namespace xlc::runtime {

/// How a rank runs its streams.
enum class Overlap { Inline, Threads };

/// One pulse for each stream.
constexpr uint64_t pulsesPerRank = (uint64_t)plan::Stream::MAX + 1;

/// An injected failure: --inject-fault.
struct Fault {
  int rank;
  uint64_t step;               ///< from 1
  std::string action;          ///< a label of the timeline, at which the rank fails; otherwise a parameter
  std::optional<float> number; ///< is written to the parameter's gradient, inf or nan
  bool flips = false;          ///< flips a bit of the rank's parameter, or of its state m/NAME, after the step

  bool isAction() const { return !number && !flips; }
};

/// The settings and objects that the ranks of a job share.
struct JobContext {
  const Plan &plan;
  const DataSource &data;
  Fabric &fabric;
  const StopSignal &stop;
  double learningRateFactor = 1;
  const Fault *fault = nullptr;
  bool check = false;
  Observer *observer = nullptr;
  /// Replaces `observer` at this interval of steps, which are not captured as graphs; 0: never.
  Observer *periodicObserver = nullptr;
  uint64_t observedEvery = 0;
  OutputSink *outputs = nullptr; ///< null: programs have no outputs
  uint64_t seed = 0;             ///< of random draws in a step
  Overlap overlap = Overlap::Inline;
  int spins = 50;                         ///< for a stream that waits for another
  const RateSchedule *schedule = nullptr; ///< of learning rates, with T; null: constant rates
  /// Handles the exception of a stream's thread, on that thread, and raises the signal.
  std::function<void(int rank)> fail = nullptr;
  Pulse *pulses = nullptr; ///< by rank, then stream; null: no watchdog
  /// Not 0 if a rank cannot capture its steps; all ranks read it after they have met. Null: steps are not captured.
  std::atomic<uint64_t> *captureFailed = nullptr;
  /// Prints a warning to the user.
  std::function<void(const std::string &)> warn = nullptr;
  /// Called before each action that changes data of a checkpoint (State/States.h, findUpdates). Returns when no reader
  /// of these data remains.
  std::function<void(int rank, Pulse &pulse)> beforeUpdate = nullptr;
};

class Executor {
public:
  /// `arena` is memory of `device`; `trace` may be null; the plan was checked, and has programs for the purpose. A rank
  /// may have one executor for each purpose, on the same device and arena. All are created before the first step; they
  /// run in turns. Throws Rejected if the program does not fit this machine.
  Executor(const JobContext &job, int rank, Device &device, char *arena, RankTrace *trace,
           plan::Purpose purpose = plan::Purpose::train);
  ~Executor();

  /// Call before the first step of a resumed run. Of its earlier steps, `applied` were applied and the others skipped.
  /// `state`: the state of its loss scale, if it had one.
  void continueFrom(uint64_t step, uint64_t applied, const std::optional<LossScaleState> &state);
  /// Runs the timeline once, on the rows of a step. Steps count from 1. A training program runs consecutive steps.
  void runStep(uint64_t step);
  /// Repeats the last step, or one that the device ran before its numbers were read: on rows of `from`, action by
  /// action, under an observer. Requires that its loss or its norm is not finite, so that nothing is updated.
  void repeatStep(uint64_t step, const DataSource &from, Observer &by);
  /// Call after the last step: completes the trace.
  void endTrace();
  /// Call after the last step: waits for the threads of its streams to end.
  void endStreams();

  /// The loss of this step or the one before. Only if the rank's program computes it.
  float lossOf(uint64_t step) const { return device.finishRead(slotOf(step)); }
  float normOf(uint64_t step) const { return device.finishRead(slotOf(step) + 1); }
  /// The delay in steps after which the numbers of a step are best read.
  uint64_t lag() const { return device.runsAhead() && !scale ? 1 : 0; }
  /// The loss scale after the step; null if the plan has none.
  const LossScale *lossScale() const { return scale ? &*scale : nullptr; }
  /// The loss scale of the last step, if there is one.
  float usedScale() const { return (float)clock.lossScale; }
  /// The learning rate of the first group in that step or an earlier one.
  double rateOf(uint64_t step) const;
  MovedByAxis moved() const;
  uint64_t peakSlots() const { return slotsTaken.peak(); }

  /// The current or last position of this thread's stream, for messages.
  std::string describePosition() const;

private:
  /// The actions of one thread, and its position.
  struct Lane {
    Lane(int rank, Mover &mover, Pulse *shown)
        : pulse(shown ? *shown : unseen), self{rank, mover, moved, &pulse}, position{rank} {}
    Lane(const Lane &) = delete;

    Pulse unseen{}, &pulse;
    MovedByAxis moved;
    const Participant self;
    std::vector<uint64_t> steps; ///< of the program, ascending
    Position position;
    const plan::Place *loaded = nullptr;        ///< of the input that the action loads, or has loaded last
    alignas(64) std::atomic<uint32_t> ended{0}; ///< the last round that this lane has completed
  };
  /// Runs the actions of `step`, with `clock` and `observer` as set.
  void runOnce();
  /// Runs all actions of a lane in a step.
  void runLane(Lane &lane);
  void enterAction(Lane &lane, uint64_t index) const;
  void enterGraph();
  /// Whether the device has captured this step, now or before; all ranks agree.
  bool isReplayed();
  bool isPeriodicallyObserved(uint64_t step) const { return job.observedEvery > 0 && step % job.observedEvery == 0; }
  void captureStep();
  void replayStep();
  void serve(Lane &lane);
  void startStreams();
  /// Waits until an action has ended in this step.
  void waitFor(Lane &lane, uint64_t index);
  void runAction(Lane &lane, const plan::StepT &step);
  /// The same without the observer, except for the calls of a function.
  void doAction(Lane &lane, const plan::StepT &step);
  StepClock clockOfStep() const;
  void begin(const plan::BeginT &begin);
  void load(Lane &lane, const plan::LoadT &load);
  void store(const plan::StoreT &store);
  void runFunction(Lane &lane, const plan::RunT &run, plan::Stream stream);
  /// Writes the fault's number to the gradient of its parameter, if the action has written this gradient.
  void spoilGradient(const plan::RunT &run, const Fault &fault);
  void runCall(Lane &lane, const plan::CallT &call, bool first);
  void runExchange(Lane &lane, const plan::CallT &call);
  void exchange(Lane &lane, const plan::ExchangeT &what, plan::Stream stream, const char *src, char *dst);
  Pulse *pulseOf(plan::Stream stream) const {
    return job.pulses ? job.pulses + (uint64_t)rank * pulsesPerRank + (uint64_t)stream : nullptr;
  }
  char *at(const plan::Place &place) const { return arena + offsetOf(place, rank, *job.plan.mesh); }
  /// The device's slot for the loss and norm of a step.
  unsigned slotOf(uint64_t step) const {
    return unsigned(step % 2) * 2 + (unsigned)program.purpose * Device::readingsOfPurpose;
  }
  unsigned replaySlot() const { return unsigned(step % 2); }
  void addToTrace(const TraceEvent &event);
  void settle(std::vector<TraceEvent> &events);
  float readScalar(const plan::Place &place) const;
  void writeNumber(char *to, plan::Element type, double value);
  void writeNumber(char *to, StepNumber number, const GroupRates &group, const StepClock &clock);

  const JobContext &job;
  const DataSource *data;        ///< that of the job; in repeatStep that of the caller
  Observer *observer;            ///< of the current step: that of the job, the periodic one, or that of repeatStep
  const plan::ProgramT &program; ///< of the rank's stage, for the purpose
  const int rank;
  char *const arena;
  RankTrace *const trace;
  std::array<std::vector<TraceEvent>, 2> marked; ///< of this step and the one before, with the device's marks as times
  const std::unique_ptr<Checker> checker;        ///< forwards to the device; null without --check
  Device &device;
  /// Places of scalars in the plan's table of states; null if the stage lacks them.
  const plan::Place *const lossPlace, *const normPlace, *const appliedPlace;
  ResidualSlots slotsTaken;
  std::optional<LossScale> scale;
  uint64_t skippedBefore = 0; ///< steps that were skipped before this run was resumed
  StepClock clock;            ///< of the current or last step

  /// The state of captured steps.
  struct Replays {
    bool areUsed = false;
    std::array<bool, 2> isCaptured{}; ///< by slot
    MovedByAxis moved;                ///< in a step
  } replays;

  // The current position, and tables that are created once, as large as the largest call requires. Used by the thread
  // that runs functions.
  uint64_t step = 0;
  uint32_t round = 0; ///< number of steps of this executor, including the current one
  std::vector<char *> slots, operands;
  std::vector<uint8_t> accumulate;
  std::vector<char> stored; ///< buffer for an output that is copied to the host; used by the lane that stores

  Lane main;                                 ///< of the rank's own thread
  std::vector<std::unique_ptr<Lane>> beside; ///< of the other streams; empty if all actions run inline
  std::vector<std::thread> threads;          ///< of these streams
  std::unique_ptr<std::atomic<uint32_t>[]>
      lastEnded;                   ///< by action that others wait for: the round in which it last ended
  std::vector<bool> isAwaited;     ///< by action
  const std::vector<bool> updates; ///< by action: whether it changes data of a checkpoint; empty if unused
  bool isEnding = false;
  alignas(64) std::atomic<uint32_t> begun{0}; ///< the round that streams must begin
};

} // namespace xlc::runtime

#endif
