// The streams of a rank's program as streams of the device. An action waits for events of those that it comes after on other
// streams; at the end of a step all wait for all, since the plan orders the actions of one step.
#ifndef XLC_LIB_RUNTIME_CUDA_STREAMS_H
#define XLC_LIB_RUNTIME_CUDA_STREAMS_H

#include "Handles.h"
#include "Plan/Plan.h"
#include "Staging.h"

#include <array>
#include <vector>

namespace xlc::runtime::cuda {

class Streams {
public:
  /// `isInline`: all actions are on one stream, in the order of the program.
  Streams(const Driver &driver, const plan::ProgramT &program, bool isInline);

  /// That of the action that is under way; between steps that of computations.
  Stream current() const { return lanes[(size_t)now]->stream.get(); }
  Staging &staging() { return lanes[(size_t)now]->staging; }

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
  void addLane(plan::Stream stream);
  plan::Stream streamOf(const plan::StepT &step) const { return isInline ? plan::Stream::compute : step.stream; }
  void wait(Stream stream, const OwnedEvent &event) const {
    driver.check(driver.letStreamWait(stream, event.get(), 0), "cuStreamWaitEvent");
  }
  void record(const OwnedEvent &event, Stream stream) const {
    driver.check(driver.record(event.get(), stream), "cuEventRecord");
  }

  const Driver &driver;
  const plan::ProgramT &program;
  const bool isInline;
  std::array<std::unique_ptr<Lane>, (size_t)plan::Stream::MAX + 1> lanes; ///< of the streams that the program has
  std::vector<OwnedEvent> events;                                         ///< by action that another stream waits for
  plan::Stream now = plan::Stream::compute;
};

} // namespace xlc::runtime::cuda

#endif
