// The speed at which a folder's disk accepts data that is written and synced, as for checkpoints.
#ifndef XLC_TOOLS_DISKSPEED_H
#define XLC_TOOLS_DISKSPEED_H

#include "llvm/Support/Error.h"
#include <string>

namespace xlc {

struct DiskSpeed {
  double bytesPerSecond; ///< of one file that is written and synced
  double syncSeconds;    ///< of a file of 4 KiB: what a manifest takes
};

/// Writes 256 MiB into an unnamed file in `folder`, in 1 MiB blocks, and 16 small files. No file remains.
llvm::Expected<DiskSpeed> measureDisk(const std::string &folder);

} // namespace xlc

#endif
