// See Peers.h.
#include "Peers.h"

#include <poll.h>

namespace xlc::runtime {

std::optional<int> Peers::findGone(const std::function<bool(int rank)> &isMissed) const {
  for (const Line &line : lines) {
    pollfd asked{line.socket.get(), POLLRDHUP, 0};
    if (poll(&asked, 1, 0) == 1 && isMissed(line.rank))
      return line.rank;
  }
  return std::nullopt;
}

} // namespace xlc::runtime
