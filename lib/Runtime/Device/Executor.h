// The program of one rank for one purpose: a small loop over the plan's timeline, or one for each of its streams.
//
//   inline     one thread runs the list from first to last
//   threads    the rank's own thread runs what is on `compute`, one thread each of the other streams; an action begins when
//              those that it comes `after` have ended in this step, and a step ends when all streams have
//
// A device that captures steps (Device.h) gets the list for the first steps; then a step is asked for at once, and what
// is left of the list is what the host writes (StepReplay.cpp).
//
// All give the same bits: who touches the same bytes comes one after the other (VerifyStreams), and sums over ranks run
// in the order of the ranks.
//
// Precondition: one thread runs all functions. The table of slots and operands is shared by all lanes, and functions
// alone use it. ProgramChecker::checkStream refuses a plan of a CPU that runs a function on another
// stream than `compute`. The plan of a GPU may (stream `weights`); it is run inline, which the check ensures too.
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

/// One for each stream.
constexpr uint64_t pulsesPerRank = (uint64_t)plan::Stream::MAX + 1;

/// Where to fail on purpose: --inject-fault.
struct Fault {
  int rank;
  uint64_t step;               ///< from 1
  std::string action;          ///< a label of the timeline, at which the rank fails; else a parameter
  std::optional<float> number; ///< goes into the parameter's gradient, inf or nan
  bool flips = false;          ///< behind the step, a bit of what the rank holds of the parameter, or of a state m/NAME

  bool isAction() const { return !number && !flips; }
};

/// What the ranks of a job share.
struct JobContext {
  const Plan &plan;
  const DataSource &data;
  Fabric &fabric;
  const StopSignal &stop;
  double learningRateFactor = 1;
  const Fault *fault = nullptr;
  bool check = false;
  Observer *observer = nullptr;
  /// In place of `observer` in every so many steps, which are not captured as graphs; 0: in none.
  Observer *periodicObserver = nullptr;
  uint64_t observedEvery = 0;
  OutputSink *outputs = nullptr; ///< null: programs give none
  uint64_t seed = 0;             ///< of what is drawn in a step
  Overlap overlap = Overlap::Inline;
  int spins = 50;                         ///< of a stream that waits for another
  const RateSchedule *schedule = nullptr; ///< of learning rates, with T; null: they stay
  /// Takes the exception of a stream's thread, on it; raises the signal.
  std::function<void(int rank)> fail = nullptr;
  Pulse *pulses = nullptr; ///< by rank, then stream; null: nobody watches
  /// Not 0: a rank cannot capture its steps, which all know when they have met; null: no step is to be captured.
  std::atomic<uint64_t> *captureFailed = nullptr;
  /// Tells the user.
  std::function<void(const std::string &)> warn = nullptr;
  /// Called before each action that changes what a checkpoint has (State/States.h, findUpdates): returns when nobody
  /// reads that any more.
  std::function<void(int rank, Pulse &pulse)> beforeUpdate = nullptr;
};

class Executor {
public:
  /// `arena` is memory of `device`; `trace` may be null; the plan was checked, and has programs for the purpose. A rank
  /// may have one for each purpose, on the same device and arena, all made before the first step; they take turns.
  /// Throws Rejected where it does not fit this machine.
  Executor(const JobContext &job, int rank, Device &device, char *arena, RankTrace *trace,
           plan::Purpose purpose = plan::Purpose::train);
  ~Executor();

  /// Before the first step, of a run that goes on: of its steps before, `applied` were applied, the others skipped;
  /// `state`: where its loss scale was, if it had one.
  void continueFrom(uint64_t step, uint64_t applied, const std::optional<LossScaleState> &state);
  /// Runs the timeline once, on the rows of a step, which counts from 1. Of one that trains, each is the next.
  void runStep(uint64_t step);
  /// Runs the last step, or one that the device ran ahead of its numbers, once more: on rows of `from`, action by
  /// action, under an observer. Requires that its loss or its norm is not finite, so that nothing is updated.
  void repeatStep(uint64_t step, const DataSource &from, Observer &by);
  /// After the last step: tells the trace what it lacks.
  void endTrace();
  /// After the last step: waits for the threads of its streams to end.
  void endStreams();

  /// Of this step or the one before. Only where the rank's program has them.
  float lossOf(uint64_t step) const { return device.finishRead(slotOf(step)); }
  float normOf(uint64_t step) const { return device.finishRead(slotOf(step) + 1); }
  /// How many steps later the numbers of a step are best asked for.
  uint64_t lag() const { return device.runsAhead() && !scale ? 1 : 0; }
  /// After the step; null where the plan has none.
  const LossScale *lossScale() const { return scale ? &*scale : nullptr; }
  /// Of the step that was run last, where there is one.
  float usedScale() const { return (float)clock.lossScale; }
  /// The learning rate of the first group in that step, or one before.
  double rateOf(uint64_t step) const;
  MovedByAxis moved() const;
  uint64_t peakSlots() const { return slotsTaken.peak(); }

  /// Where the stream of this thread is or was, for messages.
  std::string describePosition() const;

private:
  /// What one thread runs, and where it is.
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
    alignas(64) std::atomic<uint32_t> ended{0}; ///< the round that it has come to the end of
  };
  /// Runs the actions of `step`, with `clock` and `observer` as set.
  void runOnce();
  /// All of a lane's actions of a step.
  void runLane(Lane &lane);
  void enterAction(Lane &lane, uint64_t index) const;
  void enterGraph();
  /// Whether this step is one of the device's, captured now or before; all ranks agree.
  bool isReplayed();
  bool isPeriodicallyObserved(uint64_t step) const { return job.observedEvery > 0 && step % job.observedEvery == 0; }
  void captureStep();
  void replayStep();
  void serve(Lane &lane);
  void startStreams();
  /// Until an action has ended in this step.
  void waitFor(Lane &lane, uint64_t index);
  void runAction(Lane &lane, const plan::StepT &step);
  /// The same without the observer, but for the calls of a function.
  void doAction(Lane &lane, const plan::StepT &step);
  StepClock clockOfStep() const;
  void begin(const plan::BeginT &begin);
  void load(Lane &lane, const plan::LoadT &load);
  void store(const plan::StoreT &store);
  void runFunction(Lane &lane, const plan::RunT &run, plan::Stream stream);
  /// Puts the fault's number into the gradient of its parameter, where the action wrote that.
  void spoilGradient(const plan::RunT &run, const Fault &fault);
  void runCall(Lane &lane, const plan::CallT &call, bool first);
  void runExchange(Lane &lane, const plan::CallT &call);
  void exchange(Lane &lane, const plan::ExchangeT &what, plan::Stream stream, const char *src, char *dst);
  Pulse *pulseOf(plan::Stream stream) const {
    return job.pulses ? job.pulses + (uint64_t)rank * pulsesPerRank + (uint64_t)stream : nullptr;
  }
  char *at(const plan::Place &place) const { return arena + offsetOf(place, rank, *job.plan.mesh); }
  /// Of the device, for loss and norm of a step.
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
  const DataSource *data;        ///< the job's; in repeatStep that of the caller
  Observer *observer;            ///< of the step: the job's, the periodic one, or that of repeatStep
  const plan::ProgramT &program; ///< of the rank's stage, for the purpose
  const int rank;
  char *const arena;
  RankTrace *const trace;
  std::array<std::vector<TraceEvent>, 2> marked; ///< of this step and the one before: with the device's marks for times
  const std::unique_ptr<Checker> checker;        ///< stands before the device; none without --check
  Device &device;
  /// Numbers of the plan's table of states; null where the stage has none.
  const plan::Place *const lossPlace, *const normPlace, *const appliedPlace;
  ResidualSlots slotsTaken;
  std::optional<LossScale> scale;
  uint64_t skippedBefore = 0; ///< steps that were skipped before this run went on
  StepClock clock;            ///< of the step that is under way, or was run last

  /// Of steps that the device captures.
  struct Replays {
    bool areUsed = false;
    std::array<bool, 2> isCaptured{}; ///< by slot
    MovedByAxis moved;                ///< in a step
  } replays;

  // Where we are; tables made once, as large as the largest call needs. Of the thread that runs functions.
  uint64_t step = 0;
  uint32_t round = 0; ///< steps that this has run, with the one that is under way
  std::vector<char *> slots, operands;
  std::vector<uint8_t> accumulate;
  std::vector<char> stored; ///< an output on its way to the host; of the lane that stores

  Lane main;                                 ///< of the rank's own thread
  std::vector<std::unique_ptr<Lane>> beside; ///< of other streams; none where all is run inline
  std::vector<std::thread> threads;          ///< theirs
  std::unique_ptr<std::atomic<uint32_t>[]>
      lastEnded;                   ///< by action that others wait for: the round in which it last ended
  std::vector<bool> isAwaited;     ///< by action
  const std::vector<bool> updates; ///< by action: whether it changes what a checkpoint has; none where nobody asks
  bool isEnding = false;
  alignas(64) std::atomic<uint32_t> begun{0}; ///< the round that streams have been told to begin
};

} // namespace xlc::runtime

#endif
