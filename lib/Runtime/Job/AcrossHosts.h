// A job whose ranks are processes on several hosts, started by a launcher. Each process has commons of its own.
// Information that other processes require is sent as notes:
//
//     a failure                 to rank 0, which reports it and notifies all others
//     numbers of a step         from the rank that computes them to rank 0
//     the position of a rank    to rank 0 and the last one, which run the watchdog
//
// When all ranks have met after the last step, rank 0 requests the results of each: reports, events of a trace, and
// piece by piece the parts of its arena that are saved.
#ifndef XLC_LIB_RUNTIME_JOB_ACROSSHOSTS_H
#define XLC_LIB_RUNTIME_JOB_ACROSSHOSTS_H

#include "Fabric/Carrier.h"
#include "Launched.h"

namespace xlc::runtime {

/// Connects to the other processes and runs the rank of this process: `run` is called if all processes match. `wrong`:
/// the error found in this process. All get the same exit code, and a failure is reported once, as long as rank 0 is
/// reachable. A process that fails before all have met ends here.
Exit runAcrossHosts(const Launch &launch, const Plan &plan, const Arguments &arguments, const Options &options,
                    const std::string &wrong, std::atomic<int> &signal,
                    const std::function<Exit(Carrier &carrier)> &run);

/// Implements `run` above, once there is a world: `prepare` as in runLaunched.
Exit runRemoteRank(World &world, Carrier &carrier, std::atomic<int> &signal,
                   const std::function<std::unique_ptr<Crew>()> &prepare);

} // namespace xlc::runtime

#endif
