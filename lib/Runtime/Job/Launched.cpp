// See Launched.h. Once the processes share memory, the stop signal there distributes the error of one process to all;
// before that, rank 0 notifies the processes that have connected.
#include "Launched.h"

#include "Files/Checksum.h"
#include "Files/StandardStreams.h"
#include "Launch/Gather.h"
#include "Launch/Segment.h"

#include <fmt/format.h>

#include <fstream>
#include <sched.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr auto untilOthersFindOut = std::chrono::milliseconds(300);

/// Of the program's file; where there is no /proc, of nothing.
std::string digestProgram() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  Checksum digest;
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), (std::streamsize)block.size()), file.gcount() > 0)
    digest.add(block.data(), (uint64_t)file.gcount());
  return digest.digits();
}

std::string digestOptions(const Arguments &arguments) {
  Checksum digest;
  for (int i = 1; i < arguments.count; ++i)
    digest.addText(arguments.values[i]);
  return digest.digits();
}

/// What this process has found: memory that all share, and lines to others. None: it is off, and that was said.
struct Meeting {
  std::unique_ptr<Segment> memory;
  Peers lines;
};

std::optional<Meeting> meetOthers(const Launch &launch, const Introduction &self, const Patience &patience,
                                  uint64_t bytes) {
  if (self.rank == 0) {
    std::unique_ptr<Segment> memory(new Segment(Segment::make(bytes)));
    std::optional<Peers> lines = gatherRanks(launch, self, patience, memory->file());
    return lines ? std::optional(Meeting{std::move(memory), std::move(*lines)}) : std::nullopt;
  }
  std::optional<Joined> joined = joinRankZero(launch, self, patience);
  if (!joined)
    return std::nullopt;
  return Meeting{std::make_unique<Segment>(std::move(joined->memory), bytes), std::move(joined->line)};
}

} // namespace

Introduction introduce(const Launch &launch, const Plan &plan, const Arguments &arguments) {
  return {launch.rank, launch.world, plan.fingerprint, digestProgram(), digestOptions(arguments)};
}

std::string describeBinding(const Launch &launch, const Plan &plan) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0)
    return "";
  auto mine = (uint32_t)CPU_COUNT(&cores), threads = (uint32_t)plan.threads;
  if (mine >= threads || mine >= sysconf(_SC_NPROCESSORS_ONLN))
    return "";
  std::string help =
      launch.unbind ? fmt::format(": use '{} {}' to allow each process all cores", launch.launcher, launch.unbind) : "";
  return fmt::format("warning: rank {} has {} threads, but only {} core{}{}", launch.rank, threads, mine,
                     mine == 1 ? "" : "s", help);
}

void raise(StopSignal &stop, const std::function<void()> &work) {
  try {
    work();
  } catch (const Rejected &problem) {
    stop.raise(Exit::Rejected, problem.what());
  } catch (const NotStarted &problem) {
    stop.raise(Exit::RankFailed, problem.what());
  } catch (const NoCheckpoint &problem) {
    stop.raise(Exit::NoCheckpoint, problem.what());
  } catch (const std::exception &problem) {
    stop.raise(Exit::Internal, fmt::format("error: {}", problem.what()));
  }
}

void sayOnce(const std::string &job, const std::string &message) {
  std::optional<OwnedFile> voice = claimVoice(job);
  if (!voice)
    return;
  say(message);
  std::this_thread::sleep_for(untilOthersFindOut);
}

bool meetsOverTcp(const Launch &launch, const Plan &plan) { return !plan.gpu.empty() && launch.meeting; }

void checkLaunch(const Launch &launch, const Plan &plan, const Options &options) {
  if (options.processes == true)
    throw Rejected(fmt::format("error: {} has started {} processes ({}), and --processes would start {} more in each "
                               "of them: omit --processes or the launcher",
                               launch.launcher, launch.world, launch.found, rankCount(plan)));
  if (!options.tune.empty())
    throw Rejected(fmt::format("error: {} has started {} processes ({}), but --tune requires a single process: run the "
                               "program without a launcher",
                               launch.launcher, launch.world, launch.found));
  if (launch.world != rankCount(plan))
    throw Rejected(
        fmt::format("error: {} has started {} processes ({}), but the plan has {} rank{}: start {}, or compile for {}",
                    launch.launcher, launch.world, launch.found, rankCount(plan), rankCount(plan) == 1 ? "" : "s",
                    rankCount(plan), launch.world));
  if (!launch.hosts.empty() && !canMeet(launch, plan))
    throw Rejected(fmt::format(
        "error: {} has started processes on several hosts ({}), which requires MPI: start them with mpirun or srun{}",
        launch.launcher, launch.hosts, plan.gpu.empty() ? "" : fmt::format(", or {}", askForMeeting)));
}

Exit runLaunched(const Launch &launch, World &world, const Arguments &arguments, const Options &options,
                 std::atomic<int> &signal, const std::function<std::unique_ptr<Crew>()> &prepare) {
  std::optional<Meeting> met;
  try {
    met = meetOthers(launch, introduce(launch, world.plan, arguments), {options.timeout, signal}, world.sharedBytes());
  } catch (const Rejected &problem) {
    sayOnce(launch.job, problem.what());
  } catch (const NotStarted &problem) {
    sayOnce(launch.job, problem.what());
    return Exit::RankFailed;
  }
  if (!met)
    return Exit::Rejected;
  world.provide(met->memory->file(), met->memory->begin());
  Exit exit = Exit::Internal;
  StopSignal &stop = world.stop();
  if (std::string warning = describeBinding(launch, world.plan);
      !warning.empty() && !world.board().isBindingSaid.exchange(true))
    say(warning);
  raise(stop, [&] {
    HostCompany others(world, std::move(met->lines));
    exit = prepare()->run({(int)launch.rank, 1}, others);
  });
  sayFailure(stop);
  world.adoptSignal(signal);
  return stop.isRaised() ? stop.code() : exit;
}

} // namespace xlc::runtime
