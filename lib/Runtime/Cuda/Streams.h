// The streams of a rank's programs as streams of the device, which those of all purposes share. An action waits for
// events of those that it comes after on other streams; at the end of a step all wait for all, since the plan orders
// the actions of one step.
#ifndef XLC_LIB_RUNTIME_CUDA_STREAMS_H
#define XLC_LIB_RUNTIME_CUDA_STREAMS_H

#include "Handles.h"
#include "Plan/Ranks.h"
#include "Staging.h"

#include <array>
#include <vector>

namespace xlc::runtime::cuda {

class Streams {
public:
  /// `isInline`: all actions are on one stream, in the order of the program.
  Streams(const Driver &driver, const Plan &plan, uint32_t stage, bool isInline);

  /// That of the action that is under way; between steps that of computations.
  Stream current() const { return lanes[(size_t)now]->stream.get(); }
  Staging &staging() { return lanes[(size_t)now]->staging; }

  /// Actions are those of the program for this purpose.
  void beginStep(plan::Purpose purpose) { actions = &ofPurpose[(size_t)purpose]; }
  void beginAction(uint64_t index);
  void endAction(uint64_t index);
  void endStep() { join(), fork(); }
  /// What is asked for next on the stream of computations comes after all that other streams have.
  void join();
  /// What is asked for next on others comes after all that this has.
  void fork();
  /// After one that has failed: no action is under way.
  void abandonAction() { now = plan::Stream::compute; }
  /// Until all is done. Throws DeviceFailure.
  void finish() const;
  /// The same, whatever its status.
  void drain() const;

private:
  struct Lane {
    Lane(const Driver &driver, int priority)
        : stream(makeStream(driver, priority)), staging(driver, stream.get()), end(makeEvent(driver)) {}
    OwnedStream stream;
    Staging staging;
    OwnedEvent end; ///< of its part of a step
  };
  /// A program, and events of its actions that another stream waits for, by action.
  struct Actions {
    const plan::ProgramT *program = nullptr; ///< null: the plan has none for the purpose
    std::vector<OwnedEvent> events;
  };
  void addLane(plan::Stream stream);
  void addProgram(const plan::ProgramT &program);
  plan::Stream streamOf(const plan::StepT &step) const { return isInline ? plan::Stream::compute : step.stream; }
  void wait(Stream stream, const OwnedEvent &event) const {
    driver.check(driver.letStreamWait(stream, event.get(), 0), "cuStreamWaitEvent");
  }
  void record(const OwnedEvent &event, Stream stream) const {
    driver.check(driver.record(event.get(), stream), "cuEventRecord");
  }

  const Driver &driver;
  const bool isInline;
  std::array<std::unique_ptr<Lane>, (size_t)plan::Stream::MAX + 1> lanes; ///< of the streams that the programs have
  std::array<Actions, purposes> ofPurpose;
  Actions *actions = &ofPurpose.front(); ///< those of the step that is under way
  plan::Stream now = plan::Stream::compute;
};

} // namespace xlc::runtime::cuda

#endif
