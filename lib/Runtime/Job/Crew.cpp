// See Crew.h.
#include "Crew.h"

#include "Faults.h"
#include "Files/StandardStreams.h"
#include "Guard.h"
#include "RankSteps.h"
#include "SignalsBlocked.h"
#include "Speaker.h"
#include "Stats.h"
#include "xlc/Runtime/States.h"

#include <fmt/format.h>

#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr auto crewTick = std::chrono::milliseconds(50);

} // namespace

Crew::Crew(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
           const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks)
    : CrewState(world, embedded, target, machine, options, settings, signal, speaks),
      context(makeContext(options.stats.empty() ? (const DataSource &)prefetch : rows)),
      evaluationContext(makeContext(generation   ? (const DataSource &)*generation
                                    : validation ? (const DataSource &)*validation
                                                 : data)),
      watchdog(world, world.whereabouts.areTold() ? options.timeout : 0) {
  evaluationContext.fault = nullptr; // it is of a step that trains
  evaluationContext.outputs = generation ? (OutputSink *)generation.get() : predictions.get();
  if (options.checksNan)
    context.observer = &examination;
  context.periodicObserver = &norms, context.observedEvery = options.logNorms;
  checkObservers(world, options);
  checkAverage(plan, options);
  checkGraph(plan, options);
  if (std::string note = speaks && values.allFromFile ? values.file->describeUnused() : ""; !note.empty())
    say(note);
  if (options.fault)
    checkFault(plan, *options.fault, steps);
}

JobContext Crew::makeContext(const DataSource &source) {
  return {.plan = plan,
          .data = source,
          .fabric = fabric(),
          .stop = world.stop(),
          .learningRateFactor = rateFactor(plan, options),
          .fault = options.fault ? &*options.fault : nullptr,
          .check = options.check,
          .seed = values.seed,
          .overlap = overlapOf(plan, options),
          .spins = setup.spins,
          .schedule = &schedule,
          .fail = [this](int rank) { fail(rank); },
          .pulses = world.pulses(),
          .warn = sayAboveBar,
          .beforeUpdate = [this](int rank, Pulse &pulse) { awaitWriter(rank, pulse); }};
}

void Crew::awaitWriter(int rank, Pulse &pulse) {
  pulse.set(Pulse::Speaks); // as long as it takes
  saving.await(rank);
  pulse.set(Pulse::Works);
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

void Crew::fail(int rank) {
  try {
    tellWhy(rank);
  } catch (const std::bad_alloc &) { // of the message
    world.stop().raise(Exit::RankFailed, std::string_view(noMemoryMessage, sizeof noMemoryMessage - 2));
  }
}

void Crew::tellWhy(int rank) {
  auto end = [&](const std::string &why, Exit exit = Exit::RankFailed) {
    const Executor *executor = own(rank).running;
    std::string where = executor ? executor->describePosition() : fmt::format("rank {}, before the first step", rank);
    world.stop().raise(exit, fmt::format("error: {}: {}", where, why));
  };
  try {
    throw;
  } catch (const Stopped &) {
  } catch (const Rejected &problem) {
    world.stop().raise(Exit::Rejected, problem.what());
  } catch (const NoCheckpoint &problem) {
    world.stop().raise(Exit::NoCheckpoint, problem.what());
  } catch (const std::bad_alloc &) {
    end(own(rank).arena.begin
            ? "out of memory outside the arena"
            : fmt::format("cannot allocate an arena of {} bytes", trainingProgramOf(plan, rank).arena));
  } catch (const NotFinite &problem) {
    end(problem.what(), Exit::NonFinite);
  } catch (const std::exception &problem) {
    end(problem.what());
  }
}

void Crew::runRank(int rank) {
  try {
    makeMemory(rank);
    fillStates(rank, pulsesOf(rank));
    makeExecutors(rank);
    RankSteps(*this, rank).run();
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
    world.stop().raise(Exit::RankFailed,
                       fmt::format("error: cannot start a thread for rank {}: {}", rank, problem.what()));
    std::lock_guard lock(mutex);
    finishedRanks += share.first + share.count - rank;
  }
}

/// Whether all ranks ended; after a failure they have 0.8 s.
bool Crew::waitForRanks(Company &others) {
  std::unique_lock lock(mutex);
  auto all = [&] { return finishedRanks == ranks.size(); };
  while (!all() && !world.stop().isRaised()) {
    finished.wait_for(lock, crewTick);
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
