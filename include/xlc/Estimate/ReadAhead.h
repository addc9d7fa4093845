// What a rank holds of the rows of its next loads, beside its arena.
#ifndef XLC_ESTIMATE_READAHEAD_H
#define XLC_ESTIMATE_READAHEAD_H

#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Runtime/ReadAhead.h"

namespace xlc {

/// Of a rank that runs the program, one of `ranks` of the job. The runtime computes the same of its plan
/// (lib/Runtime/Data/Prefetch.h).
runtime::ReadAhead readAheadOf(exec::ProgramOp program, int64_t ranks);

} // namespace xlc

#endif
