// What programs of one stage and of several purposes have in common: they run in turns in one arena.
#ifndef XLC_LIB_MEMORY_SHAREDBUFFERS_H
#define XLC_LIB_MEMORY_SHAREDBUFFERS_H

#include "xlc/Dialect/Exec/Exec.h"

namespace xlc {

/// No buffer of a program lies where another one of its stage keeps something from step to step, but for that which is
/// the same; and both have one arena.
llvm::LogicalResult verifySharedBuffers(llvm::ArrayRef<exec::ProgramOp> programs);

} // namespace xlc

#endif
