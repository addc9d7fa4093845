// Connects processes that a launcher started on one host: rank 0 listens on a socket whose name all of them can
// compute. The others introduce themselves and get the shared memory.
//
//   rank 0   listen ......... receive all, compare ...... answer: the memory's file, or that the job is cancelled
//   others   retry until connected, send introduction . wait for the answer
//
// The socket has an abstract name, so no file remains. Connections of other users' processes are ignored.
#ifndef XLC_LIB_RUNTIME_LAUNCH_GATHER_H
#define XLC_LIB_RUNTIME_LAUNCH_GATHER_H

#include "Environment.h"
#include "Introduction.h"
#include "Peers.h"

#include <atomic>

namespace xlc::runtime {

/// The limits of a wait for others.
struct Patience {
  double seconds;                 ///< 0: no limit
  const std::atomic<int> &signal; ///< nonzero: stop the wait
};

/// Called by rank 0: waits for all others and gives them `memory`; returns lines to them. None: another process is rank
/// 0, and reports this. Throws Rejected if the processes do not match or do not connect; the connected ones are
/// notified that the job is cancelled.
std::optional<Peers> gatherRanks(const Launch &launch, const Introduction &self, const Patience &patience, int memory);

struct Joined {
  OwnedFile memory;
  Peers line; ///< the line to rank 0
};

/// Called by any other rank. None: the job is cancelled, and rank 0 has reported why. Throws Rejected if rank 0 does
/// not respond.
std::optional<Joined> joinRankZero(const Launch &launch, const Introduction &self, const Patience &patience);

/// A lock held by the one process of a job on this host that prints messages which all processes find independently;
/// none: another process holds it. If the system does not allow the lock, every process acts as its holder: messages
/// are printed repeatedly rather than never.
std::optional<OwnedFile> claimVoice(const std::string &job);

} // namespace xlc::runtime

#endif
