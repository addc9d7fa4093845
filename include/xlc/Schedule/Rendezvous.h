// Checks that ranks which exchange messages do not deadlock. The input is plain structs, the output an error.
#ifndef XLC_SCHEDULE_RENDEZVOUS_H
#define XLC_SCHEDULE_RENDEZVOUS_H

#include <optional>
#include <string>
#include <vector>

namespace xlc {

/// One message on a rank: its identity, and the ranks that must meet for it.
struct Rendezvous {
  std::string name;
  std::vector<int> ranks; ///< ascending
  bool operator==(const Rendezvous &) const = default;
};

/// Runs every rank through its rendezvous; a rendezvous happens when all its ranks wait for the same one. If no rank
/// can proceed, returns what each waits for ("cannot run to the end: rank 0 waits for 'all_reduce b0', rank 1 ...");
/// none if all reach the end.
std::optional<std::string> findDeadlock(const std::vector<std::vector<Rendezvous>> &timelines);

} // namespace xlc

#endif
