// The size of a checkpoint of a plan, from the runtime's own tables of the data that each rank writes, so that it
// equals the size of the files.
#ifndef XLC_TOOLS_CHECKPOINTBYTES_H
#define XLC_TOOLS_CHECKPOINTBYTES_H

#include "xlc/Phases/Phases.h"
#include "xlc/Report/Report.h"

namespace xlc {

/// None if the spec requests no checkpoints. Requires the compilation after Memory.
std::optional<CheckpointReport> measureCheckpoint(const Compilation &compilation);

} // namespace xlc

#endif
