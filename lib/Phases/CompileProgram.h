// The parts of the phases Lower and Emit outside the IR: the preconditions of a program, and its files.
#ifndef XLC_LIB_PHASES_COMPILEPROGRAM_H
#define XLC_LIB_PHASES_COMPILEPROGRAM_H

#include "xlc/Phases/Phases.h"

namespace xlc {

/// Checks that the plan can become a program with the requested files: every value is present, the number of ranks is
/// within the limit, and no output replaces an input. Writes nothing.
mlir::LogicalResult checkProgram(const Compilation &compilation);

/// Emits a lowered module to Compilation::object and, if the request names an output, to the output files.
mlir::LogicalResult emitProgram(Compilation &compilation);

} // namespace xlc

#endif
