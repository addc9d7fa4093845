// Lines between the processes of a job: sockets on which nothing is said while it runs. The kernel closes the ends of a
// process that has gone, however it went, so each knows of the other.
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
  /// The number of the process that started the ranks and is none of them.
  static constexpr int starter = -1;

  void add(int rank, OwnedFile line) { lines.push_back({rank, std::move(line)}); }
  /// One whose process has gone, of those that `isMissed` then.
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
