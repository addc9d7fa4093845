// What the phases Lower and Emit do beside the IR: what must hold before there is a program, and its files.
#ifndef XLC_LIB_PHASES_COMPILEPROGRAM_H
#define XLC_LIB_PHASES_COMPILEPROGRAM_H

#include "xlc/Phases/Phases.h"

namespace xlc {

/// Whether the plan can be a program with the files that are asked for: every value is there, its ranks are not too many,
/// no output replaces an input. Nothing has been written.
mlir::LogicalResult checkProgram(const Compilation &compilation);

/// From a lowered module to Compilation::object and, where the request names an output, to its files.
mlir::LogicalResult emitProgram(Compilation &compilation);

} // namespace xlc

#endif
