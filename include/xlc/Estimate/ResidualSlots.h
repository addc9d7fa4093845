// How many residuals a pipeline stage has in memory at once: what schedules differ in.
#ifndef XLC_ESTIMATE_RESIDUALSLOTS_H
#define XLC_ESTIMATE_RESIDUALSLOTS_H

#include "xlc/Dialect/Exec/Exec.h"

namespace xlc {

/// Most slots that are taken at once. A slot is what forward keeps of one micro-batch between a transfer and the next
/// (of one chunk of the stage): from the first residual that forward writes to the last that backward reads.
int64_t countResidualSlots(exec::ProgramOp program);

} // namespace xlc

#endif
