// The places of the ranks' arenas. In a file that processes share they follow the commons, each on huge pages of its
// own: the first thread that touches a page determines the memory of the host in which it is allocated.
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
  /// `isOnHost`: devices are this host's processors. All of the commons must be reserved before.
  Arenas(const Plan &plan, const Commons &commons, bool isOnHost);

  /// Places the arenas in the file, if they are memory of the host.
  void share(int sharedFile) { file = sharedFile; }
  /// The size of a file for the commons and all arenas.
  uint64_t end() const { return offsets.back(); }
  bool areShared() const { return file >= 0 && isOnHost; }
  /// Whether arenas are memory of the host.
  bool areOfHost() const { return isOnHost; }
  /// The arena of any rank, if processes share them.
  char *of(int rank) const { return commons.addressOf(offsets[(size_t)rank]); }
  /// Allocates the arena of a rank.
  DeviceMemory allocate(int rank, Device &device) const;

private:
  const Plan &plan;
  const Commons &commons;
  const bool isOnHost;
  const std::vector<uint64_t> offsets; ///< by rank, in the file; then the end of the file
  int file = -1;
};

} // namespace xlc::runtime

#endif
