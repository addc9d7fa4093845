// The rendezvous simulator. A collective completes when its whole group has arrived (NCCL's contract), so a waiting
// rank blocks all others of its group. The result does not depend on the order of simulation: if no rank can continue
// before the end, no order could.
#include "xlc/Schedule/Rendezvous.h"

using namespace xlc;

std::optional<std::string> xlc::findDeadlock(const std::vector<std::vector<Rendezvous>> &timelines) {
  std::vector<size_t> next(timelines.size(), 0);
  auto current = [&](int rank) -> const Rendezvous * {
    return next[rank] < timelines[rank].size() ? &timelines[rank][next[rank]] : nullptr;
  };
  auto canHappen = [&](const Rendezvous &rendezvous) {
    for (int rank : rendezvous.ranks)
      if (!current(rank) || !(*current(rank) == rendezvous))
        return false;
    return true;
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t rank = 0; rank < timelines.size(); ++rank)
      while (const Rendezvous *rendezvous = current(rank)) {
        if (!canHappen(*rendezvous))
          break;
        std::vector<int> met = rendezvous->ranks;
        for (int other : met)
          ++next[other];
        isMoving = true;
      }
  }
  std::string waiting;
  for (size_t rank = 0; rank < timelines.size(); ++rank)
    if (const Rendezvous *rendezvous = current(rank))
      waiting +=
          (waiting.empty() ? "rank " : ", rank ") + std::to_string(rank) + " waits for '" + rendezvous->name + "'";
  return waiting.empty() ? std::nullopt : std::optional("deadlock: " + waiting);
}
