// The number of residuals of a pipeline stage in memory at once, in which schedules differ.
#ifndef XLC_ESTIMATE_RESIDUALSLOTS_H
#define XLC_ESTIMATE_RESIDUALSLOTS_H

#include "xlc/Dialect/Exec/Exec.h"

namespace xlc {

/// The maximum number of slots in use at once. A slot holds the residuals of one micro-batch between a transfer and the
/// next (of one chunk of the stage). It is in use from the first residual that forward writes to the last that backward
/// reads.
int64_t countResidualSlots(exec::ProgramOp program);

} // namespace xlc

#endif
