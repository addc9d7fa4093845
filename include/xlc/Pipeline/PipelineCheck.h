// Checks that an order of slots is a training step: complete, in the order of data flow, and without deadlock. Depends
// only on the inputs of F, B, I and W, not on how schedules are made.
#ifndef XLC_PIPELINE_PIPELINECHECK_H
#define XLC_PIPELINE_PIPELINECHECK_H

#include "xlc/Pipeline/Pipeline.h"

namespace xlc {

/// The error of the order, if there is one: a slot on the wrong rank, missing or duplicated ("rank 1 runs F of chunk 1
/// for micro-batch 0 twice"), or the slots that wait for each other.
std::optional<std::string> findOrderError(const PipelineSchedule &schedule, const PipelineShape &shape,
                                          const PipelineOrder &order);

} // namespace xlc

#endif
