// See Job.h.
#include "Job.h"

#include "AcrossHosts.h"
#include "Crew.h"
#include "Files/InputFile.h"
#include "Files/OutputFile.h"
#include "Guard.h"
#include "Launch/Segment.h"
#include "Launched.h"
#include "Outputs.h"
#include "Processes.h"

#include <fmt/format.h>

#include <cstdio>

namespace xlc::runtime {
namespace {

std::string describe(const Plan &plan, const Target &target) {
  return fmt::format(
      "trains {} on {} rank{} with {} thread{} each, {} samples per step ({}, plan {}, compiled by xlc {})", plan.model,
      rankCount(plan), rankCount(plan) == 1 ? "" : "s", plan.threads, plan.threads == 1 ? "" : "s", globalBatch(plan),
      target.describe(plan), plan.fingerprint, plan.compiler);
}

/// Steps of which a trace has room for the events.
uint64_t tracedSteps(const Options &options) {
  return options.profile.empty() ? 0 : options.steps.value_or(UINT64_MAX);
}

/// What is in a file of --tune; of no name nothing.
std::string readTuned(const std::string &path) {
  constexpr uint64_t most = 16 << 20; // no file of algorithms is longer
  if (path.empty())
    return "";
  InputFile file(path);
  if (file.size() > most)
    file.reject(fmt::format("the file has {} bytes, but a tuning file has at most {}", file.size(), most));
  std::string text(file.size(), '\0');
  file.read(0, text.size(), text.data());
  return text;
}

LibraryOptions librariesOf(const Options &options, const Settings &settings) {
  return {.native = options.nativeLibraries,
          .tunedName = options.tuned,
          .tuned = readTuned(options.tuned),
          .registersMemory = options.registersMemory,
          .folder = settings.libraryFolder,
          .sharesDevice = settings.sharesDevice};
}

/// Where all that a program is made of comes together: who started this process decides how its ranks run.
class Program {
public:
  Program(const Plan &plan, const Embedded &embedded, const Target &target, const Options &options,
          const Settings &settings, std::atomic<int> &signal, Wire *wire = nullptr)
      : embedded(embedded), target(target), options(options), settings(settings), signal(signal),
        world(plan, target, {.traceSteps = tracedSteps(options), .norms = options.logNorms > 0}, wire) {}

  Exit runAsThreads() {
    HostShare all = allRanks();
    prepare(all);
    world.provide();
    HostCompany none(world);
    return makeCrew(true)->run(all, none);
  }
  Exit runAsProcesses() {
    if (target.isHost)
      prepare(allRanks());
    else
      checkOutputs(world.plan, options);
    Segment segment = Segment::make(world.sharedBytes());
    world.provide(segment.file(), segment.begin());
    std::unique_ptr<Crew> crew = makeCrew(true);
    Exit exit = runtime::runAsProcesses(world, *crew, signal, [&](int rank) {
      if (!target.isHost)
        prepareDevices({{rank, 1}, rank, allRanks().onHost});
    });
    world.adoptSignal(signal);
    return exit;
  }
  Exit runAsRank(const Launch &launch, const Arguments &arguments) {
    return runLaunched(launch, world, arguments, options, signal, [&] {
      prepare(shareOf(launch));
      return makeCrew(launch.rank == 0);
    });
  }
  Exit runAsRemoteRank(const Launch &launch, Carrier &carrier) {
    return runRemoteRank(world, carrier, signal, [&] {
      prepare(shareOf(launch));
      return makeCrew(launch.rank == 0);
    });
  }

private:
  HostShare allRanks() const {
    auto count = (int)rankCount(world.plan);
    return {{0, count}, 0, count};
  }
  static HostShare shareOf(const Launch &launch) {
    return {{(int)launch.rank, 1}, (int)launch.localRank, (int)launch.onHost};
  }
  void prepareDevices(const HostShare &ranks) {
    machine = target.prepareMachine(world.plan, ranks, librariesOf(options, settings));
  }
  /// Of what is written only rank 0's process knows.
  void prepare(const HostShare &ranks) {
    prepareDevices(ranks);
    if (ranks.hasFirst())
      checkOutputs(world.plan, options);
  }
  std::unique_ptr<Crew> makeCrew(bool speaks) {
    return std::make_unique<Crew>(world, embedded, target, machine, options, settings, signal, speaks);
  }

  const Embedded &embedded;
  const Target &target;
  const Options &options;
  const Settings &settings;
  std::atomic<int> &signal;
  std::unique_ptr<Machine> machine; ///< since prepareDevices
  World world;
};

Exit tune(const Plan &plan, const Embedded &embedded, const Target &target, const Options &options,
          const Settings &settings, const std::atomic<int> &signal) {
  if (!target.tune)
    throw Rejected("error: --tune is for GPUs: products on CPUs have only one algorithm");
  checkOutputs(plan, options);
  OutputFile file(options.tune, Devices::WrittenTo);
  std::string found = target.tune({plan, embedded.codes, 0, embedded.images, embedded.imageCount},
                                  librariesOf(options, settings), signal);
  if (found.empty())
    return Exit::Done; // the signal says the rest
  file.write(found);
  file.publish();
  return std::ferror(stdout) ? Exit::Rejected : Exit::Done;
}

/// Reads all data, once of all ranks.
Exit checkData(const Plan &plan, const Options &options, const std::optional<Launch> &launch) {
  if (launch && launch->rank != 0)
    return Exit::Done;
  Data data(plan, choiceOf(plan, options), Scan::All);
  std::puts(fmt::format("data: {}; all rows were read without errors", data.describe()).c_str());
  return std::fflush(stdout) == 0 ? Exit::Done : Exit::Rejected;
}

} // namespace

Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                const Settings &settings, std::atomic<int> &signal) {
  return guard([&] {
    std::unique_ptr<Plan> plan = readPlan(embedded.plan);
    checkPlan(*plan, embedded.codeCount);
    std::optional<Launch> launch;
    std::string wrong; // with the launch
    try {
      launch = findLaunch(settings.environment);
    } catch (const Rejected &problem) {
      wrong = problem.what();
    }
    Exit exit = Exit::Done;
    std::optional<Options> options =
        parseOptions(argc, argv, describe(*plan, target), /*speaks=*/!launch || launch->rank == 0, exit);
    if (!options)
      return exit;
    try {
      if (launch)
        checkLaunch(*launch, *plan, *options);
    } catch (const Rejected &problem) {
      wrong = problem.what();
    }
    if (options->checksData)
      return checkData(*plan, *options, launch);
    if (launch && !launch->hosts.empty() && canMeet(*launch, *plan))
      return runAcrossHosts(*launch, *plan, {argc, argv}, *options, wrong, signal, [&](Carrier &carrier) {
        return Program(*plan, embedded, target, *options, settings, signal, &carrier).runAsRemoteRank(*launch, carrier);
      });
    if (!wrong.empty()) {
      sayOnce(launch ? launch->job : "", wrong);
      return Exit::Rejected;
    }
    if (!options->tune.empty())
      return tune(*plan, embedded, target, *options, settings, signal);
    Program program(*plan, embedded, target, *options, settings, signal);
    if (launch)
      return program.runAsRank(*launch, {argc, argv});
    // Several GPUs of one process hold each other up, and get no graphs (docs/rationale/Gpu.md).
    bool areProcesses = options->processes.value_or(!target.isHost && rankCount(*plan) > 1);
    return areProcesses ? program.runAsProcesses() : program.runAsThreads();
  });
}

} // namespace xlc::runtime
