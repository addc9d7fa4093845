// Whether ranks that exchange messages all run to the end. Plain structs in, a verdict out.
#ifndef XLC_SCHEDULE_RENDEZVOUS_H
#define XLC_SCHEDULE_RENDEZVOUS_H

#include <optional>
#include <string>
#include <vector>

namespace xlc {

/// One message as a rank sees it: what it is, and the ranks that must meet for it.
struct Rendezvous {
  std::string name;
  std::vector<int> ranks; ///< ascending
  bool operator==(const Rendezvous &) const = default;
};

/// Runs every rank through its rendezvous; a rendezvous happens when all its ranks wait for the same one. Returns what the
/// ranks wait for when none can go on ("cannot run to the end: rank 0 waits for 'all_reduce b0', rank 1 ..."), none
/// when all reach the end.
std::optional<std::string> findDeadlock(const std::vector<std::vector<Rendezvous>> &timelines);

} // namespace xlc

#endif
