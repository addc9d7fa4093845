// What a checkpoint of a plan takes: the runtime's own tables of who writes what, so that bytes are those of the files.
#ifndef XLC_TOOLS_CHECKPOINTBYTES_H
#define XLC_TOOLS_CHECKPOINTBYTES_H

#include "xlc/Phases/Phases.h"
#include "xlc/Report/Report.h"

namespace xlc {

/// None where the spec asks for no checkpoints. The compilation has been through Memory.
std::optional<CheckpointReport> measureCheckpoint(const Compilation &compilation);

} // namespace xlc

#endif
