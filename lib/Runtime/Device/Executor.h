// The program of one rank: a small loop over the plan's timeline.
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

#include <memory>

namespace xlc::runtime {

/// Where to fail on purpose: --inject-fault.
struct Fault {
  int rank;
  uint64_t step;               ///< from 1
  std::string action;          ///< a label of the timeline, at which the rank fails; with a number: a parameter
  std::optional<float> number; ///< goes into the parameter's gradient, inf or nan
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
  uint64_t seed = 0; ///< of what is drawn in a step
};

class Executor {
public:
  /// `arena` is memory of `device`; `trace` may be null. Throws Rejected where the plan does not fit this machine.
  Executor(const JobContext &job, int rank, Device &device, char *arena, RankTrace *trace);

  /// Runs the timeline once; `step` counts from 1.
  void runStep(uint64_t step);

  /// Only where the rank's stage has them.
  float loss() const { return readScalar(*program.loss); }
  float norm() const { return readScalar(*program.norm); }
  /// After the step; null where the plan has none.
  const LossScale *lossScale() const { return scale ? &*scale : nullptr; }
  /// Of the step that was run last, where there is one.
  float usedScale() const { return scaleOfStep; }
  const MovedByAxis &moved() const { return movedBytes; }
  uint64_t peakSlots() const { return slotsTaken.peak(); }

  /// Where this rank is or was, for messages: "rank 1, step 3, action 'layer[3] B', call 'attention', tensor '...'".
  std::string describePosition() const;

private:
  void runAction(const plan::StepT &step, uint64_t index);
  /// The same without the observer, but for the calls of a function.
  void doAction(const plan::StepT &step);
  void begin(const plan::BeginT &begin);
  void load(const plan::LoadT &load);
  void runFunction(const plan::RunT &run);
  /// Puts the fault's number into the gradient of its parameter, where the action wrote that.
  void spoilGradient(const plan::RunT &run, const Fault &fault);
  void runCall(const plan::CallT &call, bool first);
  void runExchange(const plan::CallT &call);
  void run(const plan::SendT &send);
  void run(const plan::ReceiveT &receive);
  void exchange(const plan::ExchangeT &what, const char *src, char *dst);
  char *at(const plan::Place &place) const { return arena + offsetOf(place, rank, *job.plan.mesh); }
  float readScalar(const plan::Place &place) const;
  void writeScalar(const plan::Place &place, uint64_t index, double value);

  const JobContext &job;
  const plan::ProgramT &program; ///< of the rank's stage
  const int rank;
  char *const arena;
  RankTrace *const trace;
  const std::unique_ptr<Checker> checker; ///< stands before the device; none without --check
  Device &device;
  MovedByAxis movedBytes;
  const Participant self;
  ResidualSlots slotsTaken;
  std::optional<LossScale> scale;
  float scaleOfStep = 1;
  std::map<uint32_t, RandomBits> randomBits; ///< by bucket

  // Where we are; tables made once, as large as the largest call needs.
  uint64_t step = 0;
  Position position{};
  const plan::StepT *action = nullptr;
  const plan::CallT *call = nullptr;
  const std::vector<plan::Place> *places = nullptr;
  const RandomBits *drawn = nullptr;   ///< by the action
  const plan::Place *loaded = nullptr; ///< of the input that is being loaded, or was last
  std::vector<char *> slots, operands;
  std::vector<uint8_t> accumulate;
};

} // namespace xlc::runtime

#endif
