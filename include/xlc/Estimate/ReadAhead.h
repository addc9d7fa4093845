// The memory of a rank, outside its arena, for the rows of its next loads.
#ifndef XLC_ESTIMATE_READAHEAD_H
#define XLC_ESTIMATE_READAHEAD_H

#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Runtime/ReadAhead.h"

namespace xlc {

/// For a rank that runs the program, one of `ranks` of the job. The runtime computes the same from its plan
/// (lib/Runtime/Data/Prefetch.h).
runtime::ReadAhead readAheadOf(exec::ProgramOp program, int64_t ranks);

} // namespace xlc

#endif
