// One process per rank, made of this one: what it has read and mapped they have too. This one stays to watch them.
#ifndef XLC_LIB_RUNTIME_LAUNCH_CHILDREN_H
#define XLC_LIB_RUNTIME_LAUNCH_CHILDREN_H

#include "Peers.h"

#include <chrono>
#include <string>
#include <sys/types.h>

namespace xlc::runtime {

class Children {
public:
  /// Starts `count` processes: each runs `work` with its number and a line to this one, and ends with the exit code that it
  /// returns. To be called while this process has one thread. Throws NotStarted where not all could be started;
  /// none is left then.
  Children(int count, const std::function<int(int rank, Peers line)> &work);
  /// Kills those that are left.
  ~Children();
  Children(const Children &) = delete;

  /// Of one that has ended, in words: "its process was killed by signal 9 (Killed)"; `exit` where it returned.
  struct Ended {
    int rank;
    std::optional<int> exit;
    std::string how;
  };
  /// The next that has ended, if one does within this time or a signal comes.
  std::optional<Ended> wait(std::chrono::milliseconds most);
  bool isAnyLeft() const;

private:
  struct Child {
    int rank;
    pid_t process; ///< 0: it has ended and was waited for
    OwnedFile line;
  };
  std::optional<Ended> reap();
  void killAll();

  std::vector<Child> all;
};

} // namespace xlc::runtime

#endif
