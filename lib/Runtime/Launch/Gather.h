// How processes that a launcher started on one host find each other: rank 0 listens on a socket whose name they can all work
// out, the others say who they are and get the memory that all share.
//
//   rank 0   listen ......... hear all, compare ......... answer: the memory's file, or that it is off
//   others   knock until it is there, say who they are .. wait for the answer
//
// The socket has an abstract name: no file is left of it. Processes of other users are not heard.
#ifndef XLC_LIB_RUNTIME_LAUNCH_GATHER_H
#define XLC_LIB_RUNTIME_LAUNCH_GATHER_H

#include "Environment.h"
#include "Introduction.h"
#include "Peers.h"

#include <atomic>

namespace xlc::runtime {

/// How long to wait for others.
struct Patience {
  double seconds;                 ///< 0: as long as it takes
  const std::atomic<int> &signal; ///< not 0: no longer
};

/// Of rank 0: waits for all others and gives them `memory`; returns lines to them. None: another process is rank 0, and says
/// so. Throws Rejected where they do not fit together or do not come; those that came are told that it is off.
std::optional<Peers> gatherRanks(const Launch &launch, const Introduction &self, const Patience &patience, int memory);

struct Joined {
  OwnedFile memory;
  Peers line; ///< to rank 0
};

/// Of any other rank. None: it is off, and rank 0 has said why. Throws Rejected where rank 0 does not come.
std::optional<Joined> joinRankZero(const Launch &launch, const Introduction &self, const Patience &patience);

/// Held by the one process of a job on this host that says what they all find out, each for itself; none: another has it. Where the
/// system lets nobody hold it, everybody does: what is to be said is said more than once rather than never.
std::optional<OwnedFile> claimVoice(const std::string &job);

} // namespace xlc::runtime

#endif
