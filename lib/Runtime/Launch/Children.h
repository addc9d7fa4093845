// Forks one process per rank: the children inherit all data that this process has read and mapped. This process remains
// to watch them.
#ifndef XLC_LIB_RUNTIME_LAUNCH_CHILDREN_H
#define XLC_LIB_RUNTIME_LAUNCH_CHILDREN_H

#include "Peers.h"

#include <chrono>
#include <string>
#include <sys/types.h>

namespace xlc::runtime {

class Children {
public:
  /// Starts `count` processes: each runs `work` with its number and a line to this one, and ends with the exit code
  /// that `work` returns. Must be called while this process has one thread. Throws NotStarted if not all could be
  /// started; then none remains.
  Children(int count, const std::function<int(int rank, Peers line)> &work);
  /// Kills the remaining processes.
  ~Children();
  Children(const Children &) = delete;

  /// A process that has ended, and a description: "its process was killed by signal 9 (Killed)"; `exit` if it returned.
  struct Ended {
    int rank;
    std::optional<int> exit;
    std::string how;
  };
  /// The next process that has ended, if one does within this time and no signal arrives before.
  std::optional<Ended> wait(std::chrono::milliseconds most);
  bool isAnyLeft() const;

private:
  struct Child {
    int rank;
    pid_t process; ///< 0: it has ended and was reaped
    OwnedFile line;
  };
  std::optional<Ended> reap();
  void killAll();

  std::vector<Child> all;
};

} // namespace xlc::runtime

#endif
