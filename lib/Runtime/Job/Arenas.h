// Where the arenas of ranks lie. In a file that processes share they are behind the commons, each on huge pages of
// its own: who touches a page first decides on which memory of the host it lies.
//
//     | commons | arena of rank 0 | arena of rank 1 | ...
#ifndef XLC_LIB_RUNTIME_JOB_ARENAS_H
#define XLC_LIB_RUNTIME_JOB_ARENAS_H

#include "Device/Device.h"
#include "Fabric/Commons.h"
#include "Plan/Plan.h"

#include <vector>

namespace xlc::runtime {

class Arenas {
public:
  /// `isOnHost`: devices are this host's processors. All of the commons is reserved.
  Arenas(const Plan &plan, const Commons &commons, bool isOnHost);

  /// From now on the file holds them, if they are memory of the host.
  void share(int sharedFile) { file = sharedFile; }
  /// Bytes of a file that holds the commons and all of them.
  uint64_t end() const { return offsets.back(); }
  bool areShared() const { return file >= 0 && isOnHost; }
  /// Whether they are memory of the host.
  bool areOfHost() const { return isOnHost; }
  /// That of any rank, where processes share them.
  char *of(int rank) const { return commons.addressOf(offsets[(size_t)rank]); }
  /// Memory for that of a rank.
  DeviceMemory allocate(int rank, Device &device) const;

private:
  const Plan &plan;
  const Commons &commons;
  const bool isOnHost;
  const std::vector<uint64_t> offsets; ///< by rank, in the file; and its end
  int file = -1;
};

} // namespace xlc::runtime

#endif
