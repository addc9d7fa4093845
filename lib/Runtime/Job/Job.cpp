// See Job.h.
//
//   read and check plan, data, parameters       one message each, before any rank starts
//   per rank: arena, initial values, steps      all ranks meet after each step, where the speaker (the first rank
//                                               that has the loss) has decided whether to go on
//   on failure: the first message, exit 5 or 7  ranks that do not notice within a second are left behind
//   save, compare with the plan, exit
#include "Job.h"

#include "Fabric/Barrier.h"
#include "Faults.h"
#include "Files/Data.h"
#include "Files/Parameters.h"
#include "Files/StandardStreams.h"
#include "Launch.h"
#include "Options.h"
#include "Outputs.h"
#include "Progress.h"
#include "Stats.h"
#include "TraceFile.h"
#include "xlc/Runtime/Limits.h"

#include <fmt/format.h>

#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr uint64_t mostTraceEvents = 4'000'000; // per rank, 32 bytes each

class Job {
public:
  Job(const Plan &plan, const Embedded &embedded, const Target &target, const Options &options,
      const std::atomic<bool> &interrupted);
  Exit run();

private:
  struct Rank {
    std::unique_ptr<Device> device;
    DeviceMemory arena;
    std::unique_ptr<Executor> executor;
    std::thread thread;
  };
  void runRank(int rank);
  /// Ends the job for the exception that is being handled, on the thread that threw it.
  void fail(int rank);
  void runSteps(int rank);
  void endStep(uint64_t step, int64_t begin);
  /// Ends the job where the step's numbers are of no use.
  void judge(const StepResult &result, const LossScale *scale);
  void startRanks();
  bool waitForRanks();
  Exit finish();
  std::string initialPath() const;
  static double rateFactor(const Plan &plan, const Options &options);

  const Plan &plan;
  const Target &target;
  const DeviceSetup setup;
  const Options &options;
  const std::atomic<bool> &interrupted;
  StopSignal stop;
  Data data;
  InitialValues values;
  const uint64_t steps;
  Progress progress;
  const std::unique_ptr<Fabric> fabric;
  JobContext context;
  std::vector<RankTrace> traces;
  std::vector<Rank> ranks;
  const int speaker;              ///< the rank that shows and decides
  std::atomic<uint64_t> lastStep; ///< lowered by the speaker before the ranks meet
  UsedResources used;

  std::mutex mutex;
  std::condition_variable finished;
  size_t finishedRanks = 0;
};

int spinsOf(const Plan &plan) { return spinsFor((int)(rankCount(plan) * plan.threads)); }

/// The first rank that has loss and norm: it shows them.
int findSpeaker(const Plan &plan) {
  auto isShown = [](const auto &program) { return program->loss && program->norm; };
  auto first = std::find_if(plan.programs.begin(), plan.programs.end(), isShown);
  return (int)((first - plan.programs.begin()) * stageRanks(plan));
}

/// Events that a trace has of one step.
uint64_t countEvents(const Plan &plan, const plan::ProgramT &program) {
  uint64_t events = 0;
  for (const auto &step : program.steps) {
    const plan::RunT *run = step->action.AsRun();
    events += 1 + (run ? plan.functions[run->function]->calls.size() : 0);
  }
  return events;
}

Job::Job(const Plan &plan, const Embedded &embedded, const Target &target, const Options &options,
         const std::atomic<bool> &interrupted)
    : plan(plan), target(target), setup{plan, embedded.codes, spinsOf(plan)}, options(options),
      interrupted(interrupted), data(plan, options.dataFiles, options.dataFolder),
      values(openInitialValues(plan, options.init, besidePath(), options.seed.value_or(plan.seed))),
      steps(options.steps.value_or(std::max<uint64_t>(1, data.rows() / globalBatch(plan)))),
      progress(options.log, steps), fabric(target.makeFabric(plan, setup.spins, stop)),
      context{plan,
              data,
              *fabric,
              stop,
              rateFactor(plan, options),
              options.fault ? &*options.fault : nullptr,
              options.check,
              nullptr,
              values.seed,
              options.overlap,
              setup.spins,
              [this](int rank) { fail(rank); }},
      traces(options.profile.empty() ? 0 : rankCount(plan)), ranks(rankCount(plan)), speaker(findSpeaker(plan)),
      lastStep(steps) {
  if (options.fault)
    checkFault(plan, *options.fault, steps);
  for (size_t rank = 0; rank < traces.size(); ++rank)
    traces[rank].reserve(std::min<uint64_t>(
        countEvents(plan, programOf(plan, (int)rank)) * std::min<uint64_t>(steps, mostTraceEvents), mostTraceEvents));
}

double Job::rateFactor(const Plan &plan, const Options &options) {
  if (!options.learningRate || plan.groups.empty())
    return 1;
  if (plan.groups[0]->lr == 0)
    throw Rejected("error: --lr scales the learning rates of the plan, and its first is 0");
  return *options.learningRate / plan.groups[0]->lr;
}

void Job::runSteps(int rank) {
  Rank &self = ranks[rank];
  uint64_t bytes = programOf(plan, rank).arena;
  self.device = target.makeDevice(setup);
  self.arena = self.device->allocate(bytes);
  self.device->fill(self.arena.begin, options.check ? poison : 0, bytes);
  initializeParameters(plan, values, rank, {self.device.get(), self.arena.begin});
  self.executor = std::make_unique<Executor>(context, rank, *self.device, self.arena.begin,
                                             traces.empty() ? nullptr : &traces[rank]);
  fabric->meet();
  for (uint64_t step = 1; step <= lastStep.load(std::memory_order_acquire); ++step) {
    int64_t begin = now();
    self.executor->runStep(step);
    if (rank == speaker)
      endStep(step, begin);
    fabric->meet();
  }
}

/// The speaker at the end of a step: shows it, and decides whether it was the last.
void Job::endStep(uint64_t step, int64_t begin) {
  const Executor &executor = *ranks[speaker].executor;
  double seconds = (double)(now() - begin) * 1e-9,
         rate = plan.groups.empty() ? 0 : plan.groups[0]->lr * context.learningRateFactor;
  StepResult result{step, executor.loss(), executor.norm(), rate, seconds, (double)globalBatch(plan) / seconds, {}};
  const LossScale *scale = executor.lossScale();
  if (scale)
    result.scale = {executor.usedScale(), scale->skippedInRow() > 0, scale->skipped()};
  progress.show(result);
  used.steps = step;
  judge(result, scale);
  if (interrupted.load(std::memory_order_relaxed))
    lastStep.store(step, std::memory_order_release);
}

void Job::judge(const StepResult &result, const LossScale *scale) {
  bool isSkipped = scale && scale->skippedInRow() > 0;
  if (!isSkipped && std::isfinite(result.loss) && std::isfinite(result.norm))
    return;
  const char *what = std::isfinite(result.loss) ? "gradient norm" : "loss";
  std::string why =
                  fmt::format("the {} is not finite: {}", what, std::isfinite(result.loss) ? result.norm : result.loss),
              bad = data.findNaN(result.step - 1);
  if (!bad.empty())
    why += "; " + bad;
  else if (isSkipped && scale->isSpent())
    why += fmt::format(", and the loss scale is at its smallest, {} ({} steps in a row were skipped)",
                       result.scale->factor, scale->skippedInRow());
  else if (isSkipped && scale->skippedInRow() >= kMostSkippedInRow)
    why += fmt::format(", in the {}th step in a row that is skipped, with a loss scale of {}", kMostSkippedInRow,
                       result.scale->factor);
  else if (isSkipped)
    return;
  stop.raise(Exit::NonFinite, fmt::format("error: step {}: {}", result.step, why));
}

void Job::fail(int rank) {
  auto end = [&](const std::string &why) {
    const auto &executor = ranks[rank].executor;
    std::string where = executor ? executor->describePosition() : fmt::format("rank {}, before the first step", rank);
    stop.raise(Exit::RankFailed, fmt::format("error: {}: {}", where, why));
  };
  try {
    throw;
  } catch (const Stopped &) {
  } catch (const Rejected &problem) {
    stop.raise(Exit::Rejected, problem.what());
  } catch (const std::bad_alloc &) {
    end(fmt::format("no memory for an arena of {} bytes", programOf(plan, rank).arena));
  } catch (const std::exception &problem) {
    end(problem.what());
  }
}

void Job::runRank(int rank) {
  try {
    runSteps(rank);
  } catch (...) {
    fail(rank);
  }
  std::lock_guard lock(mutex);
  ++finishedRanks;
  finished.notify_all();
}

/// Keeps signals from the threads that are started meanwhile: where one waits to write a line of the log, it is not
/// interrupted.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : stoppingSignals)
      sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

private:
  sigset_t before;
};

void Job::startRanks() {
  SignalsBlocked blocked;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    try {
      ranks[rank].thread = std::thread([this, rank] { runRank((int)rank); });
    } catch (const std::system_error &problem) {
      stop.raise(Exit::RankFailed, fmt::format("error: no thread for rank {}: {}", rank, problem.what()));
      std::lock_guard lock(mutex);
      finishedRanks += ranks.size() - rank;
      return;
    }
}

/// Whether all ranks ended; after a failure they have 0.8 s.
bool Job::waitForRanks() {
  std::unique_lock lock(mutex);
  auto all = [&] { return finishedRanks == ranks.size(); };
  while (!all() && !stop.isRaised())
    finished.wait_for(lock, std::chrono::milliseconds(50));
  return finished.wait_for(lock, std::chrono::milliseconds(800), all);
}

Exit Job::run() {
  startRanks();
  bool ended = waitForRanks();
  if (stop.isRaised()) {
    progress.clear();
    say(stop.text());
    if (!ended) { // a rank is deep in a call, perhaps for long
      std::fflush(nullptr);
      _exit((int)stop.code());
    }
  }
  for (Rank &rank : ranks)
    if (rank.thread.joinable())
      rank.thread.join();
  return stop.isRaised() ? stop.code() : finish();
}

Exit Job::finish() {
  if (used.steps < steps) {
    progress.clear();
    say(fmt::format("stopped after step {}{}", used.steps, options.save.empty() ? "" : ", saves " + options.save));
  }
  if (!options.save.empty()) {
    std::vector<RankMemory> memories;
    memories.reserve(ranks.size());
    for (const Rank &rank : ranks)
      memories.push_back({rank.device.get(), rank.arena.begin});
    saveParameters(plan, values, memories, options.save);
  }
  if (!options.profile.empty())
    writeTrace(options.profile, traces);
  for (const Rank &rank : ranks) {
    used.allocatedBytes += rank.arena.bytes;
    used.moved += rank.executor->moved();
    used.residualSlots.push_back(rank.executor->peakSlots());
  }
  if (!options.stats.empty())
    writeStats(options.stats, plan, used);
  progress.checkWritten();
  std::string disagreement = findDisagreement(plan, used);
  if (disagreement.empty())
    return Exit::Done;
  progress.clear();
  say("error: " + disagreement);
  return Exit::Internal;
}

std::string describe(const Plan &plan, const Target &target) {
  return fmt::format("trains {} on {} rank{} with {} thread{} each, {} samples a step ({}, plan {}, made by xlc {})",
                     plan.model, rankCount(plan), rankCount(plan) == 1 ? "" : "s", plan.threads,
                     plan.threads == 1 ? "" : "s", globalBatch(plan), target.describe(plan), plan.fingerprint,
                     plan.compiler);
}

} // namespace

Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                const std::atomic<bool> &interrupted) {
  try {
    std::unique_ptr<Plan> plan = readPlan(embedded.plan, embedded.planBytes);
    checkPlan(*plan, embedded.codeCount);
    Exit exit = Exit::Done;
    std::optional<Options> options = parseOptions(argc, argv, describe(*plan, target), exit);
    if (!options)
      return exit;
    checkLaunch(std::getenv, rankCount(*plan));
    target.prepareMachine(*plan, options->nativeLibraries);
    checkOutputs(*plan, *options);
    return Job(*plan, embedded, target, *options, interrupted).run();
  } catch (const Rejected &problem) {
    say(problem.what());
    return Exit::Rejected;
  } catch (const std::exception &problem) {
    say(fmt::format("error: {}", problem.what()));
    return Exit::Internal;
  }
}

} // namespace xlc::runtime
