// Whether this process is one of several that a launcher started, and which.
#ifndef XLC_LIB_RUNTIME_JOB_LAUNCH_H
#define XLC_LIB_RUNTIME_JOB_LAUNCH_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace xlc::runtime {

/// The value of a variable of the environment, or null.
using Environment = std::function<const char *(const char *)>;

struct Launch {
  const char *launcher; ///< as a user calls it: "mpirun"
  const char *variable; ///< that says how many processes there are
  uint64_t rank, world;
};

/// By the first row of the table of launchers whose two variables are whole numbers, rank below world; none: the process
/// was started by itself.
std::optional<Launch> findLaunch(const Environment &environment);

/// Throws Rejected where there are several processes: each would run all `ranks` ranks as its threads, and write the same
/// files.
void checkLaunch(const Environment &environment, uint64_t ranks);

} // namespace xlc::runtime

#endif
