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

constexpr auto startTick = std::chrono::milliseconds(20);

constexpr double secondsForRankZero = 2; // to say who is missing, before another says that rank 0 is

/// What each process tells all others before they begin. It may be a stranger's: texts are read with `boundedText`.
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

/// While all ranks come, and once more while each tells what it is.
class Arrival {
public:
  Arrival(Carrier &carrier, const Launch &launch, const Options &options, const std::atomic<int> &signal)
      : carrier(carrier), launch(launch), timeout(options.timeout), signal(signal) {}

  /// To be called every few hundredths of a second. Throws Rejected where it is in vain, or a signal came.
  void look() const {
    sayRemarks();
    if (signal != 0)
      throw Rejected(fmt::format("error: stopped by signal {} before all ranks had joined", signal.load()));
    double most = timeout + (isTelling && launch.rank != 0 ? secondsForRankZero : 0);
    if (timeout <= 0 || std::chrono::steady_clock::now() - begin <= std::chrono::duration<double>(most))
      return;
    std::string absence = carrier.describeAbsence();
    throw Rejected(fmt::format("error: not all {} ranks joined within {:.3g} s (--timeout){}{}", launch.world, timeout,
                               absence.empty() ? "" : ": ", absence));
  }
  void beginTelling() {
    sayRemarks(); // of those who came at once
    isTelling = true, begin = std::chrono::steady_clock::now();
  }

private:
  void sayRemarks() const {
    for (std::string remark = carrier.takeRemark(); !remark.empty(); remark = carrier.takeRemark())
      sayOnce(launch.job, remark);
  }

  Carrier &carrier;
  const Launch &launch;
  const double timeout;
  const std::atomic<int> &signal;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  bool isTelling = false;
};

/// Where MPI has other ranks than the launcher; what is no MPI has the launcher's.
std::string findStrangeRank(const Carrier &carrier, const Launch &launch) {
  if ((uint64_t)carrier.size() == launch.world && (uint64_t)carrier.rank() == launch.rank)
    return "";
  return fmt::format(
      "error: {} assigned rank {} of {}, but MPI assigned rank {} of {}: start processes on several hosts with {}",
      launch.launcher, launch.rank, launch.world, carrier.rank(), carrier.size(), launch.joins);
}

/// What rank 0 is to say of all: why they cannot run, or nothing.
std::string findWrong(std::span<const Opening> all) {
  for (const Opening &one : all)
    if (one.wrong[0])
      return std::string(boundedText(one.wrong));
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].hello.isWhole() || all[rank].hello.rank != rank)
      return fmt::format("error: rank {} runs a different program", rank);
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
  Arrival arrival(*carrier, launch, options, signal);
  try {
    while (!carrier->waitForStart(startTick))
      arrival.look();
    (wrong.empty() ? findStrangeRank(*carrier, launch) : wrong).copy(own.wrong, sizeof own.wrong - 1);
    describeBinding(launch, plan).copy(own.warning, sizeof own.warning - 1);
    arrival.beginTelling();
    bytes = carrier->gather({(const char *)&own, sizeof own}, [&] { arrival.look(); });
  } catch (const Rejected &problem) {
    sayOnce(launch.job, problem.what());
    leave(Exit::Rejected);
  } catch (const NotStarted &problem) {
    sayOnce(launch.job, problem.what());
    leave(Exit::RankFailed);
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
    say(std::string(boundedText(warned->warning)));
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
  world.adoptSignal(signal);
  return exit;
}

} // namespace xlc::runtime
