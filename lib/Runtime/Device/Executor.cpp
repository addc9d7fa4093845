// See Executor.h. Addresses are sums of a place and an offset. They are computed call by call in tables that are
// created at start: a step allocates nothing.
#include "Executor.h"

#include "Fabric/Waiting.h"
#include "State/States.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace xlc::runtime {
Executor::Executor(const JobContext &job, int rank, Device &given, char *arena, RankTrace *trace, plan::Purpose purpose)
    : job(job), data(&job.data), observer(job.observer), program(programOf(job.plan, purpose, rank)), rank(rank),
      arena(arena), trace(trace),
      checker(job.check ? std::make_unique<Checker>(job.plan, program, rank, given, arena) : nullptr),
      device(checker ? *checker : given),
      lossPlace(findNumber(job.plan, program, plan::StateKind::Result, kLossResult)),
      normPlace(findNumber(job.plan, program, plan::StateKind::Result, kNormResult)),
      appliedPlace(findNumber(job.plan, program, plan::StateKind::Counter, kAppliedCounter)),
      slotsTaken(job.plan, program), main(rank, device, pulseOf(plan::Stream::compute)),
      updates(job.beforeUpdate ? findUpdates(job.plan, program) : std::vector<bool>()) {
  if (job.plan.loss_scale && appliedPlace)
    scale.emplace(*job.plan.loss_scale);
  size_t mostSlots = 0, mostOperands = 0;
  for (const auto &function : job.plan.functions) {
    mostSlots = std::max<size_t>(mostSlots, function->slots);
    for (const auto &call : function->calls) {
      mostOperands = std::max(mostOperands, call->ins.size() + call->outs.size());
      if (!call->exchange && purpose == plan::Purpose::train) // those of all programs, once
        device.prepare(*call);
    }
  }
  slots.resize(mostSlots), operands.resize(mostOperands), accumulate.resize(mostOperands);
  replays.areUsed = job.captureFailed && device.captures() && !trace && !observer && !job.outputs;
  forEachFirstNumber(job.plan, program, rank, [&](uint64_t offset, plan::Element element, int64_t value) {
    element == plan::Element::I64 ? device.write(arena + offset, &value, sizeof value)
                                  : writeNumber(arena + offset, element, (double)value);
  });
  device.endStep(); // what was written comes before the first action
  if (job.overlap == Overlap::Threads)
    startStreams();
  else
    for (uint64_t i = 0; i < program.steps.size(); ++i)
      main.steps.push_back(i);
}

Executor::~Executor() { endStreams(); }

void Executor::startStreams() {
  std::array<Lane *, (size_t)plan::Stream::MAX + 1> lanes{&main};
  isAwaited.resize(program.steps.size());
  lastEnded = std::make_unique<std::atomic<uint32_t>[]>(program.steps.size());
  for (uint64_t i = 0; i < program.steps.size(); ++i) {
    Lane *&lane = lanes[(size_t)program.steps[i]->stream];
    if (!lane)
      lane = beside.emplace_back(std::make_unique<Lane>(rank, device.besideCalls(), pulseOf(program.steps[i]->stream)))
                 .get();
    assert((lane == &main || !program.steps[i]->action.AsRun()) && "see ProgramChecker::checkStream");
    lane->steps.push_back(i);
    for (uint32_t other : program.steps[i]->after)
      isAwaited[other] = true;
  }
  threads.reserve(beside.size());
  try {
    for (auto &lane : beside)
      threads.emplace_back([this, lane = lane.get()] { serve(*lane); });
  } catch (...) {
    endStreams();
    throw;
  }
}

void Executor::endStreams() {
  isEnding = true;
  begun.fetch_add(1, std::memory_order_release);
  wakeAll(begun);
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

void Executor::serve(Lane &lane) {
  try {
    wakePromptly();
    lane.pulse.set(Pulse::Idle);
    for (uint32_t seen = 0;; ++seen) {
      waitWhile(begun, seen, job.spins, job.stop);
      if (isEnding)
        return;
      runLane(lane);
      lane.pulse.set(Pulse::Idle); // before the rank goes on: another program may show where it is
      lane.ended.store(seen + 1, std::memory_order_release);
      wakeAll(lane.ended);
    }
  } catch (...) {
    job.fail(rank);
  }
}

void Executor::continueFrom(uint64_t step, uint64_t applied, const std::optional<LossScaleState> &state) {
  skippedBefore = step - applied;
  if (scale && state)
    scale->restore(*state, applied);
  else if (scale)
    scale->restore({.factor = scale->value(), .overflowsLeft = scale->state().overflowsLeft, .skipped = skippedBefore},
                   applied);
}

void Executor::runStep(uint64_t number) {
  step = number;
  clock = clockOfStep();
  observer = isPeriodicallyObserved(number) ? job.periodicObserver : job.observer;
  runOnce();
  if (scale)
    scale->endStep(readScalar(*appliedPlace) != 0);
}

void Executor::runOnce() {
  ++round;
  device.beginStep(program.purpose);
  slotsTaken.clear();
  if (!beside.empty()) {
    begun.store(round, std::memory_order_release);
    wakeAll(begun);
  }
  bool isWhole = isReplayed();
  isWhole ? replayStep() : runLane(main);
  main.pulse.set(Pulse::WaitsWithin);
  for (auto &lane : beside)
    waitWhile(lane->ended, round - 1, job.spins, job.stop);
  for (uint64_t i = 0; i < program.steps.size(); ++i)
    slotsTaken.endAction(*program.steps[i], i);
  if (!isWhole)
    device.endStep();
  if (lossPlace)
    device.beginRead(slotOf(step), at(*lossPlace));
  if (normPlace)
    device.beginRead(slotOf(step) + 1, at(*normPlace));
  if (checker)
    checker->checkStep();
  settle(marked[(step - 1) % 2]);
}

void Executor::enterAction(Lane &lane, uint64_t index) const {
  job.stop.throwIfRaised();
  lane.position = {rank, step, index, -1, program.purpose}, lane.loaded = nullptr;
  lane.pulse.beginAction(step, index, (uint32_t)program.purpose);
}

void Executor::runLane(Lane &lane) {
  for (uint64_t index : lane.steps) {
    const plan::StepT &next = *program.steps[index];
    enterAction(lane, index);
    for (uint32_t other : next.after)
      waitFor(lane, other);
    const Fault *fault = job.fault && job.fault->rank == rank && job.fault->step == step ? job.fault : nullptr;
    if (fault && fault->isAction() && fault->action == next.label)
      throw std::runtime_error("a fault was injected here");
    if (!updates.empty() && updates[index])
      job.beforeUpdate(rank, lane.pulse);
    device.beginAction(index);
    int64_t begin = trace ? device.mark() : 0;
    runAction(lane, next);
    if (const auto *run = next.action.AsRun(); run && fault && fault->number)
      spoilGradient(*run, *fault);
    if (trace)
      addToTrace({program.purpose, (uint32_t)index, -1, next.stream, begin, device.mark()});
    if (checker)
      checker->poisonAfter(index);
    device.endAction(index);
    if (!isAwaited.empty() && isAwaited[index]) {
      lastEnded[index].store(round, std::memory_order_release);
      wakeAll(lastEnded[index]);
    }
  }
}

void Executor::addToTrace(const TraceEvent &event) {
  if (device.runsAhead())
    marked[step % 2].push_back(event); // by its one thread
  else
    trace->add(event);
}

void Executor::settle(std::vector<TraceEvent> &events) {
  for (TraceEvent &event : events) {
    event.begin = device.timeOf(event.begin), event.end = device.timeOf(event.end);
    trace->add(event);
  }
  events.clear();
}

void Executor::endTrace() {
  settle(marked[(step - 1) % 2]);
  settle(marked[step % 2]);
}

void Executor::waitFor(Lane &lane, uint64_t index) {
  if (!lastEnded)
    return;
  lane.pulse.set(Pulse::WaitsWithin);
  waitWhile(lastEnded[index], round - 1, job.spins, job.stop);
  lane.pulse.set(Pulse::Works);
}

MovedByAxis Executor::moved() const {
  MovedByAxis all = main.moved;
  for (const auto &lane : beside)
    all += lane->moved;
  return all;
}

void Executor::runAction(Lane &lane, const plan::StepT &next) {
  if (!observer || next.action.type == plan::Action::Run) // a function is seen call by call
    return doAction(lane, next);
  auto run = [&] { doAction(lane, next); };
  switch (next.action.type) {
  case plan::Action::Send:
  case plan::Action::Receive:
    return observer->transfer(lane.position, run);
  case plan::Action::Exchange:
    return observer->exchange(lane.position, run);
  default:
    return observer->act(lane.position, run);
  }
}

void Executor::doAction(Lane &lane, const plan::StepT &step) {
  const plan::ActionUnion &what = step.action;
  switch (what.type) {
  case plan::Action::NONE:
    break;
  case plan::Action::Begin:
    return begin(*what.AsBegin());
  case plan::Action::Load:
    return load(lane, *what.AsLoad());
  case plan::Action::Store:
    return store(*what.AsStore());
  case plan::Action::Run:
    return runFunction(lane, *what.AsRun(), step.stream);
  case plan::Action::Exchange:
    return exchange(lane, *what.AsExchange(), step.stream, at(*what.AsExchange()->src), at(*what.AsExchange()->dst));
  case plan::Action::Release:
    if (checker)
      checker->release(*what.AsRelease()->place, what.AsRelease()->bytes);
    return;
  case plan::Action::Send: {
    const plan::SendT &send = *what.AsSend();
    return job.fabric.send({send.message, send.peer, send.bytes}, at(*send.place), lane.self);
  }
  case plan::Action::Receive: {
    const plan::ReceiveT &receive = *what.AsReceive();
    return job.fabric.receive({receive.message, receive.peer, receive.bytes}, at(*receive.place), lane.self);
  }
  }
}

static GroupRates ratesOf(const plan::OptimizerGroupT &group) {
  return {group.lr, group.beta1, group.beta2, group.average_decay, group.average_start};
}

void Executor::writeNumber(char *to, plan::Element type, double value) {
  char element[8];
  putNumber(type, value, element);
  device.write(to, element, bytesOf(type));
}

void Executor::writeNumber(char *to, StepNumber number, const GroupRates &group, const StepClock &clock) {
  StepValue value = valueOf(number, group, clock);
  if (const auto *real = std::get_if<double>(&value))
    return writeNumber(to, plan::Element::F32, *real);
  device.write(to, &std::get<int64_t>(value), sizeof(int64_t));
}

StepClock Executor::clockOfStep() const {
  return {.step = step,
          .applied = scale ? scale->applied() + 1 : step - skippedBefore,
          .seed = job.seed,
          .rateFactor = job.learningRateFactor,
          .lossScale = scale ? scale->value() : 1,
          .schedule = job.schedule};
}

double Executor::rateOf(uint64_t ofStep) const {
  if (job.plan.groups.empty())
    return 0;
  StepClock then = clock;
  then.applied -= clock.step - ofStep; // a step before is looked at where none is skipped
  return std::get<double>(valueOf(StepNumber::LearningRate, ratesOf(*job.plan.groups[0]), then));
}

/// Writes the numbers of the step that are the host's.
void Executor::begin(const plan::BeginT &begin) {
  for (size_t i = 0; i < begin.places.size(); ++i)
    forEachHostNumberOfGroup([&](const StepNumberRow &row) {
      writeNumber(at(begin.places[i]) + offsetInGroup(row.number), row.number, ratesOf(*job.plan.groups[i]), clock);
    });
  for (const plan::NumberPlace &number : begin.numbers)
    writeNumber(at(number.place()), kStepNumbers[number.number()].number, {}, clock);
}

void Executor::load(Lane &lane, const plan::LoadT &load) {
  for (size_t i = 0; i < load.inputs.size(); ++i) {
    lane.loaded = &load.places[i];
    char *to = at(load.places[i]);
    data->load(load.inputs[i], step - 1, load.micro_batch, rank, [&](const void *bytes, uint64_t count) {
      device.write(to, bytes, count);
      to += count;
    });
  }
}

void Executor::store(const plan::StoreT &given) {
  for (size_t i = 0; job.outputs && i < given.outputs.size(); ++i) {
    if (!job.outputs->takes(given.outputs[i], step - 1, given.micro_batch, rank))
      continue;
    const plan::OutputT &output = *job.plan.outputs[given.outputs[i]];
    stored.resize(job.plan.micro * sampleElements(output) * bytesOf(output.element));
    device.read(stored.data(), at(given.places[i]), stored.size());
    job.outputs->take(given.outputs[i], step - 1, given.micro_batch, rank, stored.data());
  }
}

void Executor::exchange(Lane &lane, const plan::ExchangeT &what, plan::Stream stream, const char *src, char *dst) {
  job.fabric.exchange({what.kind, what.group, what.outer, what.chunk, what.element, src, dst, what.accumulate,
                       what.rows, what.ranks_first, what.wire.value_or(what.element), stream},
                      lane.self);
}

void Executor::runFunction(Lane &lane, const plan::RunT &run, plan::Stream stream) {
  const plan::FunctionT &function = *job.plan.functions[run.function];
  for (size_t i = 0; i < run.places.size(); ++i)
    slots[i] = at(run.places[i]);
  for (const auto &next : function.calls) {
    lane.pulse.beginCall(++lane.position.call);
    int64_t begin = trace ? device.mark() : 0;
    next->exchange ? runExchange(lane, *next) : runCall(lane, *next, run.first);
    if (trace)
      addToTrace(
          {program.purpose, (uint32_t)lane.position.action, (int32_t)lane.position.call, stream, begin, device.mark()});
  }
}

void Executor::runExchange(Lane &lane, const plan::CallT &next) {
  job.stop.throwIfRaised();
  char *src = slots[next.ins[0].slot()] + next.ins[0].offset();
  char *dst = slots[next.outs[0].slot()] + next.outs[0].offset();
  auto run = [&] { exchange(lane, *next.exchange, plan::Stream::compute, src, dst); };
  observer ? observer->exchange(lane.position, run) : run();
}

void Executor::runCall(Lane &lane, const plan::CallT &next, bool first) {
  job.stop.throwIfRaised();
  size_t count = 0;
  for (const auto *side : {&next.ins, &next.outs})
    for (const plan::Operand &operand : *side)
      operands[count++] = slots[operand.slot()] + operand.offset();
  for (size_t i = 0; i < next.outs.size(); ++i)
    accumulate[i] =
        next.accumulate[i] == plan::Accumulate::Always || (next.accumulate[i] == plan::Accumulate::Later && !first);
  char *workspace = next.workspace.empty() ? nullptr : slots[next.workspace[0].slot()] + next.workspace[0].offset();
  auto run = [&] { device.run(next, {operands.data(), accumulate.data(), workspace}); };
  observer ? observer->call(lane.position, workspace, run) : run();
}

void Executor::spoilGradient(const plan::RunT &run, const Fault &fault) {
  const plan::ParameterT &parameter = **findParameter(job.plan, fault.action);
  const plan::BucketT &bucket = *job.plan.buckets[parameter.bucket];
  uint64_t bytes = bytesOf(bucket.gradient), first = parameter.offset * bytes,
           last = first + parameter.elements * bytes;
  for (const auto &next : job.plan.functions[run.function]->calls)
    for (size_t i = 0; i < next->outs.size(); ++i) {
      const plan::Place &place = run.places[next->outs[i].slot()];
      const plan::BufferT &buffer = *program.buffers[place.buffer()];
      uint64_t begin = place.offset() - buffer.offset + (uint64_t)next->outs[i].offset();
      if (buffer.name != bucket.name + "/gradient" || begin >= last || begin + next->out_bytes[i] <= first)
        continue;
      char element[8];
      putNumber(bucket.gradient, *fault.number, element);
      device.write(at(place) + next->outs[i].offset() + (std::max(begin, first) - begin), element, bytes);
    }
}

float Executor::readScalar(const plan::Place &place) const {
  char element[8];
  device.read(element, at(place), bytesOf(scalarElement));
  return (float)getNumber(scalarElement, element);
}

std::string Executor::describePosition() const {
  auto isThis = [](const std::thread &thread) { return thread.get_id() == std::this_thread::get_id(); };
  auto own = std::find_if(threads.begin(), threads.end(), isThis);
  const Lane &lane = own == threads.end() ? main : *beside[own - threads.begin()];
  return describe(job.plan, lane.position, lane.loaded);
}

} // namespace xlc::runtime
