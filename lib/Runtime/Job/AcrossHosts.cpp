// See AcrossHosts.h.
#include "AcrossHosts.h"

#include "Files/StandardStreams.h"
#include "Mpi/Engine.h"
#include "RemoteCompany.h"
#include "SignalsBlocked.h"
#include "Tcp/Star.h"

#include <fmt/format.h>

#include <cstring>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr auto tick = std::chrono::milliseconds(20);

/// What each process tells all others before they begin.
struct Opening {
  Hello hello;
  char wrong[1024], warning[256];
};

[[noreturn]] void leave(Exit exit) {
  std::fflush(nullptr);
  _exit((int)exit); // the carrier's thread may be deep in MPI
}

Carrier *startCarrier(const Launch &launch, const Plan &plan) {
  SignalsBlocked blocked; // also from the threads of Open MPI
  if (meetsOverTcp(launch, plan))
    return new tcp::Star(launch);
  return new mpi::Engine(launch.onHost, plan.gpu.empty() ? "" : fmt::format(", or {}", askForMeeting));
}

/// Throws Rejected where the carrier does not start, or not in time.
void waitForStart(Carrier &carrier, const Launch &launch, const Options &options, const std::atomic<int> &signal) {
  for (auto begin = std::chrono::steady_clock::now(); !carrier.waitForStart(tick);) {
    if (signal != 0)
      throw Rejected(fmt::format("error: stopped by signal {} before all ranks had come", signal.load()));
    if (options.timeout > 0 &&
        std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(options.timeout))
      throw Rejected(
          fmt::format("error: not all {} ranks came within {:.3g} s (--timeout)", launch.world, options.timeout));
  }
}

/// Where MPI has other ranks than the launcher; what is no MPI has the launcher's.
std::string findStrangeRank(const Carrier &carrier, const Launch &launch) {
  if ((uint64_t)carrier.size() == launch.world && (uint64_t)carrier.rank() == launch.rank)
    return "";
  return fmt::format("error: {} says rank {} of {}, and MPI rank {} of {}: start processes on several hosts with {}",
                     launch.launcher, launch.rank, launch.world, carrier.rank(), carrier.size(), launch.joins);
}

/// What rank 0 is to say of all: why they cannot run, or the first warning.
std::string findWrong(std::span<const Opening> all) {
  for (const Opening &one : all)
    if (one.wrong[0])
      return one.wrong;
  for (const Opening &one : all)
    if (std::string different = findDifference(one.hello, all[0].hello); !different.empty())
      return different;
  return "";
}

} // namespace

Exit runAcrossHosts(const Launch &launch, const Plan &plan, const Arguments &arguments, const Options &options,
                    const std::string &wrong, std::atomic<int> &signal,
                    const std::function<Exit(Carrier &carrier)> &run) {
  Carrier *carrier = startCarrier(launch, plan); // for as long as there is a process
  Opening own{Hello(introduce(launch, plan, arguments)), {}, {}};
  std::vector<char> bytes;
  try {
    waitForStart(*carrier, launch, options, signal);
    (wrong.empty() ? findStrangeRank(*carrier, launch) : wrong).copy(own.wrong, sizeof own.wrong - 1);
    describeBinding(launch, plan).copy(own.warning, sizeof own.warning - 1);
    bytes = carrier->gather({(const char *)&own, sizeof own});
  } catch (const Rejected &problem) {
    sayOnce(launch.job, problem.what());
    leave(Exit::Rejected);
  }
  std::vector<Opening> all((size_t)carrier->size());
  std::memcpy((void *)all.data(), bytes.data(), bytes.size());
  if (std::string found = findWrong(all); !found.empty()) {
    if (carrier->rank() == 0)
      sayOnce(launch.job, found); // MPI may have made a world of each process
    carrier->finish();
    return Exit::Rejected;
  }
  auto warned = std::ranges::find_if(all, [](const Opening &one) { return one.warning[0] != 0; });
  if (carrier->rank() == 0 && warned != all.end())
    say(warned->warning);
  return run(*carrier);
}

Exit runRemoteRank(World &world, Carrier &carrier, std::atomic<int> &signal,
                   const std::function<std::unique_ptr<Crew>()> &prepare) {
  world.provide();
  auto *others = new RemoteCompany(world, carrier); // the carrier's thread calls it
  StopSignal &stop = world.stop();
  Exit exit = Exit::Internal;
  std::unique_ptr<Crew> crew;
  raise(stop, [&] {
    crew = prepare();
    exit = crew->run({carrier.rank(), 1}, *others);
  });
  if (stop.isRaised()) {
    others->sayFailure();
    leave(stop.code()); // before memory goes that messages are under way to
  }
  carrier.finish();
  adoptSignal(world, signal);
  return exit;
}

} // namespace xlc::runtime
