// A job whose ranks are processes on several hosts, started by a launcher. Each has commons of its own; what one
// needs to know of another comes as a note:
//
//     a failure                 to rank 0, which says it and tells all others
//     numbers of a step         from the rank that has them to rank 0
//     where a rank is           to rank 0 and the last one, which watch
//
// When all ranks have met after the last step, rank 0 asks each for what it left: reports, events of a trace, and piece by
// piece what is saved of its arena.
#ifndef XLC_LIB_RUNTIME_JOB_ACROSSHOSTS_H
#define XLC_LIB_RUNTIME_JOB_ACROSSHOSTS_H

#include "Fabric/Carrier.h"
#include "Launched.h"

namespace xlc::runtime {

/// Finds the other processes and runs the rank that this one is: `run` is called where all fit together. `wrong`: what
/// was found wrong with this one. All get the same exit code, and a failure is reported once, as long as rank 0 can be
/// reached. A process that fails before all have met ends here.
Exit runAcrossHosts(const Launch &launch, const Plan &plan, const Arguments &arguments, const Options &options,
                    const std::string &wrong, std::atomic<int> &signal,
                    const std::function<Exit(Carrier &carrier)> &run);

/// What `run` above does, once there is a world: `prepare` as in runLaunched.
Exit runRemoteRank(World &world, Carrier &carrier, std::atomic<int> &signal,
                   const std::function<std::unique_ptr<Crew>()> &prepare);

} // namespace xlc::runtime

#endif
