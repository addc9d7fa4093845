// How fast a folder's disk takes what is written to it and synced, as checkpoints are.
#ifndef XLC_TOOLS_DISKSPEED_H
#define XLC_TOOLS_DISKSPEED_H

#include "llvm/Support/Error.h"
#include <string>

namespace xlc {

struct DiskSpeed {
  double bytesPerSecond; ///< of one file that is written and synced
  double syncSeconds;    ///< of a file of 4 KiB: what a manifest takes
};

/// Writes 256 MiB into a file without a name in `folder`, in 1 MiB blocks, and 16 small files. Nothing stays.
llvm::Expected<DiskSpeed> measureDisk(const std::string &folder);

} // namespace xlc

#endif
