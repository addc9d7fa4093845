// A job whose ranks are processes started by a launcher: the code common to one and several hosts, and the run on one
// host.
#ifndef XLC_LIB_RUNTIME_JOB_LAUNCHED_H
#define XLC_LIB_RUNTIME_JOB_LAUNCHED_H

#include "Crew.h"
#include "Launch/Environment.h"
#include "Launch/Introduction.h"

namespace xlc::runtime {

/// The arguments of a program, which must be equal in all its processes.
struct Arguments {
  int count;
  const char *const *values;
};

/// The advice for ranks with GPUs on several hosts without MPI.
inline constexpr const char *askForMeeting =
    "set MASTER_ADDR to the address of rank 0, and MASTER_PORT to a port from 1 to 65534";

/// Whether processes on several hosts meet by connections to rank 0, which is possible with GPUs; otherwise they use
/// MPI.
bool meetsOverTcp(const Launch &launch, const Plan &plan);
/// Whether the processes can meet at all.
inline bool canMeet(const Launch &launch, const Plan &plan) { return launch.joins || meetsOverTcp(launch, plan); }

/// Throws Rejected if the launched processes do not match the plan or the options, or cannot be run here.
void checkLaunch(const Launch &launch, const Plan &plan, const Options &options);

/// Runs the rank of this process. `prepare` is called once the process has met the others. All processes get the same
/// exit code, and an error is reported once.
Exit runLaunched(const Launch &launch, World &world, const Arguments &arguments, const Options &options,
                 std::atomic<int> &signal, const std::function<std::unique_ptr<Crew>()> &prepare);

/// The introduction of the process to the others.
Introduction introduce(const Launch &launch, const Plan &plan, const Arguments &arguments);

/// A warning if the process may run on fewer cores than its rank has threads, or nothing. By default, mpirun binds each
/// process to one core: the threads of a rank would run in turns on it.
std::string describeBinding(const Launch &launch, const Plan &plan);

/// Runs `work` and reports its exceptions to all processes.
void raise(StopSignal &stop, const std::function<void()> &work);

/// Prints a message that every process of a job finds by itself, in only one of them.
void sayOnce(const std::string &job, const std::string &message);

} // namespace xlc::runtime

#endif
