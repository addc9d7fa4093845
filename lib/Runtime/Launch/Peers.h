// Lines between the processes of a job: sockets that carry no data while the job runs. The kernel closes the sockets of
// a process that has ended, whatever the cause, so each process detects the end of the other.
//
//     --processes     the process that was started has a line to each rank
//     a launcher      rank 0 has a line to each other rank
#ifndef XLC_LIB_RUNTIME_LAUNCH_PEERS_H
#define XLC_LIB_RUNTIME_LAUNCH_PEERS_H

#include "Segment.h"

#include <functional>
#include <optional>
#include <vector>

namespace xlc::runtime {

class Peers {
public:
  /// The number of the process that started the ranks and is not a rank itself.
  static constexpr int starter = -1;

  void add(int rank, OwnedFile line) { lines.push_back({rank, std::move(line)}); }
  /// A rank whose process has ended and for which `isMissed` then returns true.
  std::optional<int> findGone(const std::function<bool(int rank)> &isMissed) const;

private:
  struct Line {
    int rank;
    OwnedFile socket;
  };
  std::vector<Line> lines;
};

} // namespace xlc::runtime

#endif
