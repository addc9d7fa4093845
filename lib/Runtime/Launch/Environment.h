// Detects whether a launcher started this process as one of several, and as which: rank and world come from the
// environment that the launcher sets, never from options that a user must keep equal.
#ifndef XLC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H
#define XLC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace xlc::runtime {

/// The value of a variable of the environment, or null.
using Environment = std::function<const char *(const char *)>;

/// The address of rank 0: MASTER_ADDR and MASTER_PORT.
struct MeetingPoint {
  std::string host;
  uint16_t port;
  std::string secret; ///< XLC_JOB_SECRET, known only to the ranks of the job; empty: none
};

struct Launch {
  const char *launcher; ///< the name of its command: "mpirun"
  std::string found;    ///< the variable that indicates it: "OMPI_COMM_WORLD_SIZE=2"
  uint64_t rank, world;
  /// The variables that show that the processes are on several hosts: "LOCAL_WORLD_SIZE=2 of WORLD_SIZE=4"; empty: they
  /// are on one host, or this is unknown.
  std::string hosts;
  uint64_t onHost;    ///< the number of processes on this host if known; otherwise all
  uint64_t localRank; ///< the rank among those; if unknown, as if ranks filled one host after the other
  /// An identifier that the processes of this job share and those of other jobs do not have. Empty: none, except for
  /// the user who started them.
  std::string job;
  /// The command with which MPI can connect the processes of several hosts: "srun --mpi=pmix"; null: it cannot.
  const char *joins;
  const char *unbind;                  ///< the option that disables binding to cores; null: the launcher never binds
  std::optional<MeetingPoint> meeting; ///< if the environment contains it
};

/// Uses the first row of the table of launchers that matches a job with several processes; none: the process was
/// started on its own. Throws Rejected if a world is given without a rank.
std::optional<Launch> findLaunch(const Environment &environment);

} // namespace xlc::runtime

#endif
