// See Crew.h.
#include "Crew.h"

#include "Faults.h"
#include "Files/StandardStreams.h"
#include "Guard.h"
#include "SignalsBlocked.h"
#include "Speaker.h"
#include "Stats.h"
#include "xlc/Runtime/States.h"

#include <fmt/format.h>

#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr auto tick = std::chrono::milliseconds(50);

} // namespace

Crew::Crew(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
           const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks)
    : world(world), plan(world.plan), target(target), machine(machine), setup(setupOf(world, embedded, options)),
      options(options), signal(signal), resumption(plan, options), data(plan, choiceOfRun(plan, options, resumption)),
      validation(openValidation(plan, options)), predictions(openPredictions(plan, options, validation.get())),
      generation(options.generate ? std::make_unique<Generation>(plan, options) : nullptr),
      examination(plan, world.request(), signal, [this](int rank) { return memoryOf(rank); }),
      norms(
          plan, [this](int rank) { return memoryOf(rank); }, [&world](int rank) { return world.normsOf(rank); }),
      described(describeOfRun(plan, options, data, resumption)), values(openValues(plan, options, resumption)),
      steps(countSteps(plan, options, data, resumption.progress())), schedule(scheduleOfRun(plan, steps)),
      prefetch(plan, data, world.stop()), rows(plan, prefetch, data),
      slowLink(options.linkRate ? std::make_unique<SlowFabric>(world.ranksMeet(), *options.linkRate, rankCount(plan))
                                : nullptr),
      saving(world, options, settings, speaks),
      speaker(speaks ? std::make_unique<Speaker>(world, options, data) : nullptr),
      context(makeContext(options.stats.empty() ? (const DataSource &)prefetch : rows)),
      evaluationContext(makeContext(generation   ? (const DataSource &)*generation
                                    : validation ? (const DataSource &)*validation
                                                 : data)),
      watchdog(world, world.whereabouts.areTold() ? options.timeout : 0) {
  evaluationContext.fault = nullptr; // it is of a step that trains
  evaluationContext.outputs = generation ? (OutputSink *)generation.get() : predictions.get();
  if (options.checksNan)
    context.observer = &examination;
  context.sometimes = &norms, context.observedSteps = options.logNorms;
  checkNorms(world, options);
  checkAverage(plan, options);
  checkGraph(plan, options);
  if (std::string note = speaks && values.allFromFile ? values.file->describeUnused() : ""; !note.empty())
    say(note);
  if (options.fault)
    checkFault(plan, *options.fault, steps);
}

Crew::~Crew() = default;

JobContext Crew::makeContext(const DataSource &source) {
  return {plan,
          source,
          slowLink ? *slowLink : world.ranksMeet(),
          world.stop(),
          rateFactor(plan, options),
          options.fault ? &*options.fault : nullptr,
          options.check,
          nullptr,
          nullptr,
          0,
          nullptr,
          values.seed,
          overlapOf(plan, options),
          setup.spins,
          &schedule,
          [this](int rank) { fail(rank); },
          world.pulses(),
          nullptr,
          [](const std::string &text) {
            clearBar();
            say(text);
          },
          [this](int rank, Pulse &pulse) { awaitWriter(rank, pulse); }};
}

void Crew::awaitWriter(int rank, Pulse &pulse) {
  pulse.set(Pulse::Speaks); // as long as it takes
  saving.await(rank);
  pulse.set(Pulse::Works);
}

void Crew::runSteps(int rank) {
  Rank &self = own(rank);
  Pulse *pulse = world.pulses() + (uint64_t)rank * pulsesPerRank;
  makeMemory(rank);
  fillStates(rank, pulse);
  makeExecutors(rank);
  Fabric &fabric = context.fabric;
  Request &request = world.request();
  fabric.meet(pulse);
  const uint64_t done = resumption.progress().step;
  auto isLast = [&](uint64_t step) {
    uint64_t last = request.lastStep.load(std::memory_order_acquire);
    return step >= steps || (last && step >= last);
  };
  if (options.checkpointsNow)
    writeCheckpoint(rank, done, pulse, /*isLast=*/true);
  auto tellFound = [&](int rank, uint64_t step) { // when all have met
    clearBar();
    if (std::string what = examination.describe(rank, step); !what.empty())
      say(what);
    if (rank == 0 && request.found != 0)
      speaker->spoil(step);
    fabric.meet(pulse);
  };
  uint64_t lag = self.executor->lag(), step = done, ended = done;
  int64_t begin = now();
  auto endUntil = [&](uint64_t last) {
    while (ended < last)
      begin = endStep(rank, ++ended, begin);
  };
  if (generation) {
    self.running = self.generator.get();
    generation->run({rank, rank == share.first, *self.generator, fabric, pulse, request, signal},
                    [&](const std::string &text) { speaker->print(text); });
  } else if (options.evaluates) {
    evaluate(rank, done, pulse);
  }
  while (!options.evaluates && !generation && !isLast(step)) {
    self.running = self.executor.get();
    self.executor->runStep(++step);
    Request::raise(request.signal, (uint64_t)signal.load(std::memory_order_relaxed));
    if (request.signal != 0)
      Request::raise(request.lastStep, step);
    saving.ask(rank, step, rank == share.first);
    endUntil(std::max(step, done + lag) - lag);
    fabric.meet(pulse);
    if (options.logNorms > 0 && step % options.logNorms == 0) {
      endUntil(step);
      if (rank == 0)
        speaker->log(norms.describe(step));
      fabric.meet(pulse);
    }
    if (options.checksNan && request.found != 0)
      tellFound(rank, step);
    flipBit(plan, options.fault, rank, step, memoryOf(rank));
    if (validation && Evaluation::isDue(plan, resumption.progress(), step, data.rows())) {
      endUntil(step);
      fabric.meet(pulse); // all know whether its numbers are of use
      if (request.isSpoiled == 0)
        evaluate(rank, step, pulse);
      begin = now();
    }
    saving.completeAfter(rank, step, pulse);
    if (!saving.isDue(step, isLast(step)))
      continue;
    if (lag) { // whether the step itself is of use is known when its numbers are
      endUntil(step);
      fabric.meet(pulse);
    }
    if (saving.isDue(step, isLast(step)))
      writeCheckpoint(rank, step, pulse, isLast(step));
  }
  endUntil(step);
  saving.complete(rank, pulse);
  self.executor->endTrace();
  if (self.evaluation)
    self.evaluation->executor().endTrace();
  reportEnd(rank);
  fabric.meet(pulse);
  if (request.isSpoiled != 0 && options.examines && !options.checksNan) { // which has looked at once
    if (rank == 0)
      say(examination.announce(request.isSpoiled));
    self.executor->repeatStep(request.isSpoiled, data, examination);
    fabric.meet(pulse);
    tellFound(rank, request.isSpoiled);
  }
  self.device->endSteps();
  fabric.meet(pulse); // nothing is saved where a device fails until then
  pulse->set(Pulse::Idle);
}

void Crew::fillStates(int rank, Pulse *pulse) {
  if (resumption.checkpoint())
    restore(rank, pulse);
  else
    initializeStates(plan, values, rank, memoryOf(rank));
  if (rank == share.first)
    beginRun();
  if (rank == 0)
    saving.markFolder();
  context.fabric.meet(pulse);
  if (rank == share.first)
    saving.checkFolder();
}

void Crew::restore(int rank, Pulse *pulse) {
  Request &request = world.request();
  for (;;) {
    uint64_t number = resumption.left();
    try {
      world.reportOf(rank).restored = restoreStates(plan, *resumption.checkpoint(), rank, memoryOf(rank));
    } catch (const Damaged &problem) {
      say(problem.what());
      Request::raise(request.damaged, number + 1);
    }
    context.fabric.meet(pulse);
    uint64_t damaged = request.damaged;
    if (damaged <= number)
      return;
    context.fabric.meet(pulse); // all have seen it
    if (rank == share.first)
      resumption.passOver(damaged);
    context.fabric.meet(pulse);
  }
}

void Crew::beginRun() {
  const RunProgress done = resumption.progress();
  steps = countSteps(plan, options, data, done);
  schedule.setSteps(steps);
  data.continueFrom(done.step, done.samples);
  if (resumption.checkpoint())
    values = openValues(plan, options, resumption);
  if (share.hasFirst())
    speaker->begin(done.step, steps, resumption.describe());
  world.board().shown = (uint32_t)done.step;
  prefetch.start(done.step, steps);
}

void Crew::writeCheckpoint(int rank, uint64_t step, Pulse *pulse, bool isLast) {
  Rank &self = own(rank);
  const RunProgress done = resumption.progress();
  const LossScale *scale = self.executor->lossScale();
  uint64_t more = step - done.step, skipped = scale ? scale->skipped() : done.step - done.applied;
  RunProgress progress{step, step - skipped, done.samples + more * globalBatch(plan)};
  std::optional<LossScaleState> state = scale ? std::optional(scale->state()) : std::nullopt;
  std::optional<EvaluationState> evaluation =
      self.evaluation ? self.evaluation->judge.state() : resumption.evaluation();
  saving.write(rank, {progress, resumption.seed(), state, &described, evaluation}, values, memoryOf(rank), pulse,
               isLast);
}

void Crew::makeMemory(int rank) {
  Rank &self = own(rank);
  DeviceSetup onMachine = setup;
  onMachine.machine = machine.get();
  self.device = target.makeDevice(onMachine, rank);
  self.arena = world.arenas.allocate(rank, *self.device);
  self.device->fill(self.arena.begin, options.check ? poison : 0, trainingProgramOf(plan, rank).arena);
}

void Crew::makeExecutors(int rank) {
  Rank &self = own(rank);
  if (world.isTraced())
    self.trace.emplace(world.traceOf(rank));
  RankTrace *trace = self.trace ? &*self.trace : nullptr;
  self.executor = std::make_unique<Executor>(context, rank, *self.device, self.arena.begin, trace);
  if (const Checkpoint *from = resumption.checkpoint()) {
    const RunProgress done = resumption.progress();
    self.executor->continueFrom(done.step, done.applied, from->manifest().lossScale);
  }
  self.running = self.executor.get();
  if (generation)
    self.generator = std::make_unique<Executor>(evaluationContext, rank, *self.device, self.arena.begin, nullptr,
                                                plan::Purpose::evaluate);
  if (validation) {
    self.evaluation = std::make_unique<Evaluation>(evaluationContext, *validation, rank, memoryOf(rank), trace);
    self.evaluation->judge.continueFrom(resumption.evaluation());
  }
}

void Crew::evaluate(int rank, uint64_t step, Pulse *pulse) {
  Rank &self = own(rank);
  self.running = &self.evaluation->executor();
  if (predictions && rank == 0)
    predictions->create();
  context.fabric.meet(pulse);
  if (predictions && rank == share.first)
    predictions->open();
  context.fabric.meet(pulse);
  EvaluationResult result = self.evaluation->run(step, predictions ? Evaluation::Rows::All : Evaluation::Rows::Counted);
  if (result.isBest && plan.evaluation->keeps_best && saving.isOn() && !options.evaluates)
    Request::raise(world.request().checkpoint, step + 1);
  if (self.evaluation->judge.ends()) // all ranks have the same numbers
    Request::raise(world.request().lastStep, std::max<uint64_t>(step, 1));
  if (rank == 0)
    speaker->showEvaluation(result, self.evaluation->judge);
  context.fabric.meet(pulse);
  if (predictions && rank == 0)
    say(predictions->publish());
  self.running = self.executor.get();
}

/// Tells what a step came to, which took from `begin` on. Returns when the next one's time begins: what this rank
/// waits for others at the end of a step is of the next one's.
int64_t Crew::endStep(int rank, uint64_t step, int64_t begin) {
  (world.pulses() + (uint64_t)rank * pulsesPerRank)->set(Pulse::Works); // a device that hangs is waited for here
  if (rank == findPublisher(plan))
    company->publish(resultOf(step, *own(rank).executor));
  if (rank == 0)
    speaker->endStep(step, begin, saving.takeWaited());
  return now();
}

void Crew::reportEnd(int rank) {
  RankReport &report = world.reportOf(rank);
  report.allocatedBytes = own(rank).arena.bytes;
  report.bytesAhead = prefetch.bytesOf(rank), report.rowSum = rows.of(rank);
  report.peakSlots = own(rank).executor->peakSlots(), report.moved = own(rank).executor->moved();
  if (rank == share.first) // of all ranks of the process
    report.peakResidentBytes = readPeakResident();
}

void Crew::fail(int rank) {
  try {
    tellWhy(rank);
  } catch (const std::bad_alloc &) { // of the message
    world.stop().raise(Exit::RankFailed, std::string_view(noMemoryMessage, sizeof noMemoryMessage - 2));
  }
}

void Crew::tellWhy(int rank) {
  auto end = [&](const std::string &why) {
    const Executor *executor = own(rank).running;
    std::string where = executor ? executor->describePosition() : fmt::format("rank {}, before the first step", rank);
    world.stop().raise(Exit::RankFailed, fmt::format("error: {}: {}", where, why));
  };
  try {
    throw;
  } catch (const Stopped &) {
  } catch (const Rejected &problem) {
    world.stop().raise(Exit::Rejected, problem.what());
  } catch (const NoCheckpoint &problem) {
    world.stop().raise(Exit::NoCheckpoint, problem.what());
  } catch (const std::bad_alloc &) {
    end(own(rank).arena.begin ? "out of memory, beside its arena"
                              : fmt::format("no memory for an arena of {} bytes", trainingProgramOf(plan, rank).arena));
  } catch (const std::exception &problem) {
    end(problem.what());
  }
}

void Crew::runRank(int rank) {
  try {
    runSteps(rank);
  } catch (...) {
    fail(rank);
  }
  saving.await(rank); // it reads memory that goes
  Rank &self = own(rank);
  for (Executor *executor :
       {self.executor.get(), self.generator.get(), self.evaluation ? &self.evaluation->executor() : nullptr})
    if (executor)
      executor->endStreams(); // one that hangs keeps its rank from ending, and so is left behind with it
  if (world.stop().isRaised() && !target.isHost) { // memory of the host may be read by others
    self.running = nullptr, self.executor.reset(), self.generator.reset(), self.evaluation.reset();
    self.device.reset(); // which may wait for long, for what is under way
  }
  std::lock_guard lock(mutex);
  ++finishedRanks;
  finished.notify_all();
}

/// The same in all processes. A link that is slow on purpose delays calls of the host.
bool Crew::capturesSteps() const { return options.graph.value_or(share.count == 1) && !slowLink; }

void Crew::startRanks() {
  SignalsBlocked blocked;
  ranks = std::deque<Rank>(share.count);
  int rank = share.first;
  try {
    prefetch.reserve(share.first, share.count);
    for (; rank < share.first + share.count; ++rank)
      own(rank).thread = std::thread([this, rank] { runRank(rank); });
  } catch (const std::system_error &problem) {
    world.stop().raise(Exit::RankFailed, fmt::format("error: no thread for rank {}: {}", rank, problem.what()));
    std::lock_guard lock(mutex);
    finishedRanks += share.first + share.count - rank;
  }
}

/// Whether all ranks ended; after a failure they have 0.8 s.
bool Crew::waitForRanks(Company &others) {
  std::unique_lock lock(mutex);
  auto all = [&] { return finishedRanks == ranks.size(); };
  while (!all() && !world.stop().isRaised()) {
    finished.wait_for(lock, tick);
    if (std::string hangs = watchdog.look(now()); !hangs.empty())
      world.stop().raise(Exit::RankFailed, hangs);
    if (std::string note = watchdog.takeNote(); !note.empty())
      say(note);
    others.lookAfter();
  }
  return finished.wait_for(lock, std::chrono::milliseconds(800), all);
}

Exit Crew::awaitEnd(Company &others) {
  try {
    return others.awaitEnd({share.first, *ranks[0].device, ranks[0].arena.begin});
  } catch (const DeviceFailure &problem) { // of a device that rank 0 asks
    world.stop().raise(Exit::RankFailed,
                       fmt::format("error: rank {}, after the last step: {}", share.first, problem.what()));
    throw Stopped();
  }
}

Exit Crew::finish(Company &others) {
  if (!share.hasFirst())
    return awaitEnd(others);
  Exit exit = guard([&] {
    others.collect();
    auto read = [&](int rank, uint64_t offset, uint64_t bytes, void *to) {
      if (rank < share.count)
        ranks[rank].device->read(to, ranks[rank].arena.begin + offset, bytes);
      else
        others.readArena(rank, offset, bytes, to);
    };
    Exit exit = speaker->finish(values, read, ranks[0].device->measureOutside());
    return exit == Exit::Done && saving.hasFailed() ? Exit::Rejected : exit;
  });
  others.end(exit);
  return exit;
}

Exit Crew::run(Share given, Company &others) {
  share = given, company = &others;
  context.captureFailed = evaluationContext.captureFailed = capturesSteps() ? &world.request().captureFailed : nullptr;
  StopSignal &stop = world.stop();
  startRanks();
  bool ended = waitForRanks(others);
  others.sayFailure();
  if (!ended) { // a rank is deep in a call, perhaps for long
    std::fflush(nullptr);
    _exit((int)stop.code());
  }
  for (Rank &rank : ranks)
    if (rank.thread.joinable())
      rank.thread.join();
  auto leave = [&] {
    for (int rank = share.first; rank < share.first + share.count; ++rank)
      world.reportOf(rank).hasEnded = 1;
  };
  if (!share.hasFirst())
    leave(); // its memory stays
  Exit exit = stop.code();
  try {
    if (!stop.isRaised())
      exit = finish(others);
  } catch (const Stopped &) {
    exit = stop.code();
  }
  others.sayFailure();
  leave();
  return exit;
}

} // namespace xlc::runtime
