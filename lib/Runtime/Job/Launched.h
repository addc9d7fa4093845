// A job whose ranks are processes that a launcher started: what is common to one host and several, and how it runs on one.
#ifndef XLC_LIB_RUNTIME_JOB_LAUNCHED_H
#define XLC_LIB_RUNTIME_JOB_LAUNCHED_H

#include "Crew.h"
#include "Launch/Environment.h"
#include "Launch/Introduction.h"

namespace xlc::runtime {

/// The arguments of a program, which all its processes must have alike.
struct Arguments {
  int count;
  const char *const *values;
};

/// What ranks with GPUs on several hosts can do without MPI.
inline constexpr const char *askForMeeting = "set MASTER_ADDR and MASTER_PORT (1 to 65534) to the address of rank 0";

/// Whether processes on several hosts meet by connections with rank 0, as those with GPUs can; else through MPI.
bool meetsOverTcp(const Launch &launch, const Plan &plan);
/// Whether they can find each other at all.
inline bool canMeet(const Launch &launch, const Plan &plan) { return launch.joins || meetsOverTcp(launch, plan); }

/// Throws Rejected where what a launcher has started does not fit the plan or the options, or cannot be run here.
void checkLaunch(const Launch &launch, const Plan &plan, const Options &options);

/// Runs the rank that this process is. `prepare` is called once it has found the others. All processes get the same exit
/// code, and what goes wrong is said once.
Exit runLaunched(const Launch &launch, World &world, const Arguments &arguments, const Options &options,
                 std::atomic<int> &signal, const std::function<std::unique_ptr<Crew>()> &prepare);

/// What the process says of itself to the others.
Introduction introduce(const Launch &launch, const Plan &plan, const Arguments &arguments);

/// A warning, where the process may run on fewer cores than its rank has threads; or nothing. mpirun binds each process to one
/// core where nobody says otherwise: the threads of a rank would take turns on it.
std::string describeBinding(const Launch &launch, const Plan &plan);

/// Tells all processes what `work` throws here.
void raise(StopSignal &stop, const std::function<void()> &work);

/// Says what every process of a job finds out by itself, in one of them.
void sayOnce(const std::string &job, const std::string &message);

} // namespace xlc::runtime

#endif
