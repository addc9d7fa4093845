// Whether this process is one of several that a launcher started, and which: rank and world come from the environment that
// the launcher sets, never from options that a user must keep equal.
#ifndef XLC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H
#define XLC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace xlc::runtime {

/// The value of a variable of the environment, or null.
using Environment = std::function<const char *(const char *)>;

/// Where rank 0 can be found: MASTER_ADDR and MASTER_PORT.
struct MeetingPoint {
  std::string host;
  uint16_t port;
  std::string secret; ///< XLC_JOB_SECRET, which only the ranks of the job are told; empty: there is none
};

struct Launch {
  const char *launcher; ///< as a user calls it: "mpirun"
  std::string found;    ///< what says so: "OMPI_COMM_WORLD_SIZE=2"
  uint64_t rank, world;
  /// What says that not all are on one host: "LOCAL_WORLD_SIZE=2 of WORLD_SIZE=4"; empty: they are, or nothing is said of it.
  std::string hosts;
  uint64_t onHost;    ///< how many there are on this host, as far as it is said; otherwise all
  uint64_t localRank; ///< among those; where it is not said, as if ranks filled one host after the other
  /// What the processes of this job have in common and those of other jobs have not. Empty: nothing, but who started them.
  std::string job;
  /// What MPI can join the processes of several hosts by, in words: "srun --mpi=pmix"; null: it cannot.
  const char *joins;
  const char *unbind;                  ///< the option with which all cores are left to a process; null: it always does
  std::optional<MeetingPoint> meeting; ///< where the environment says it
};

/// By the first row of the table of launchers that has several processes; none: the process was started by itself. Throws
/// Rejected where a world is named without a rank in it.
std::optional<Launch> findLaunch(const Environment &environment);

} // namespace xlc::runtime

#endif
