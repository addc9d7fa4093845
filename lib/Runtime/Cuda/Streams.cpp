// See Streams.h.
#include "Streams.h"

#include <algorithm>
#include <utility>

namespace xlc::runtime::cuda {

/// The device begins blocks of the most urgent kernel first: other ranks wait for messages, nobody soon for gradients of weights, which
/// fill what the rest leaves idle.
static int urgencyOf(plan::Stream stream) {
  switch (stream) {
  case plan::Stream::weights:
    return 0;
  case plan::Stream::compute:
    return 1;
  default:
    return 2;
  }
}

void Streams::addLane(plan::Stream stream) {
  int least, most;
  driver.check(driver.getPriorities(&least, &most), "cuCtxGetStreamPriorityRange");
  lanes[(size_t)stream] = std::make_unique<Lane>(driver, std::max(least - urgencyOf(stream), most));
}

Streams::Streams(const Driver &driver, const Plan &plan, uint32_t stage, bool isInline)
    : driver(driver), isInline(isInline) {
  addLane(plan::Stream::compute);
  forEachProgram(plan, stage, [&](const plan::ProgramT &program) { addProgram(program); });
}

void Streams::addProgram(const plan::ProgramT &program) {
  std::vector<OwnedEvent> events(program.steps.size());
  for (const auto &step : program.steps) {
    if (!lanes[(size_t)streamOf(*step)])
      addLane(streamOf(*step));
    for (uint32_t other : step->after)
      if (streamOf(*program.steps[other]) != streamOf(*step) && !events[other])
        events[other] = makeEvent(driver);
  }
  ofPurpose[(size_t)program.purpose] = {&program, std::move(events)};
}

void Streams::beginAction(uint64_t index) {
  const plan::StepT &step = *actions->program->steps[index];
  now = streamOf(step);
  for (uint32_t other : step.after)
    if (streamOf(*actions->program->steps[other]) != now)
      wait(current(), actions->events[other]);
}

void Streams::endAction(uint64_t index) {
  if (actions->events[index])
    record(actions->events[index], current());
  now = plan::Stream::compute;
}

void Streams::join() {
  for (const auto &lane : lanes)
    if (lane && lane->stream.get() != current()) {
      record(lane->end, lane->stream.get());
      wait(current(), lane->end);
    }
}

void Streams::fork() {
  const OwnedEvent &end = lanes[(size_t)now]->end;
  record(end, current());
  for (const auto &lane : lanes)
    if (lane && lane->stream.get() != current())
      wait(lane->stream.get(), end);
}

void Streams::finish() const {
  for (const auto &lane : lanes)
    if (lane)
      driver.check(driver.waitForStream(lane->stream.get()), "cuStreamSynchronize");
}

void Streams::drain() const {
  for (const auto &lane : lanes)
    if (lane)
      driver.waitForStream(lane->stream.get());
}

} // namespace xlc::runtime::cuda
