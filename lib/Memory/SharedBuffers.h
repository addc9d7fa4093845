// Checks programs of one stage and of several purposes, which run alternately in one arena.
#ifndef XLC_LIB_MEMORY_SHAREDBUFFERS_H
#define XLC_LIB_MEMORY_SHAREDBUFFERS_H

#include "xlc/Dialect/Exec/Exec.h"

namespace xlc {

/// No buffer of a program overlaps a persistent buffer of another program of its stage, unless both are the same
/// buffer; and both programs have the same arena.
llvm::LogicalResult verifySharedBuffers(llvm::ArrayRef<exec::ProgramOp> programs);

} // namespace xlc

#endif
