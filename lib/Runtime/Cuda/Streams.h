// The streams of a rank's programs as streams of the device, shared by the programs of all purposes. An action waits
// for events of its predecessors on other streams. At the end of a step all streams wait for all others, since the plan
// orders only the actions of one step.
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

  /// The stream of the current action; between steps, that of computations.
  Stream current() const { return lanes[(size_t)now]->stream.get(); }
  Staging &staging() { return lanes[(size_t)now]->staging; }

  /// Actions are those of the program for this purpose.
  void beginStep(plan::Purpose purpose) { actions = &ofPurpose[(size_t)purpose]; }
  void beginAction(uint64_t index);
  void endAction(uint64_t index);
  void endStep() { join(), fork(); }
  /// Later requests on the stream of computations run after all requests on the other streams.
  void join();
  /// Later requests on the other streams run after all requests on this one.
  void fork();
  /// Call after a failed action: there is no current action.
  void abandonAction() { now = plan::Stream::compute; }
  /// Waits until all requests have ended. Throws DeviceFailure.
  void finish() const;
  /// The same, whatever its status.
  void drain() const;

private:
  struct Lane {
    Lane(const Driver &driver, int priority)
        : stream(makeStream(driver, priority)), staging(driver, stream.get()), end(makeEvent(driver)) {}
    OwnedStream stream;
    Staging staging;
    OwnedEvent end; ///< the end of its part of a step
  };
  /// A program, and, by action, the events for which other streams wait.
  struct Actions {
    const plan::ProgramT *program = nullptr; ///< null: the plan has no program for the purpose
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
  std::array<std::unique_ptr<Lane>, (size_t)plan::Stream::MAX + 1> lanes; ///< one for each stream of the programs
  std::array<Actions, purposes> ofPurpose;
  Actions *actions = &ofPurpose.front(); ///< those of the current step
  plan::Stream now = plan::Stream::compute;
};

} // namespace xlc::runtime::cuda

#endif
