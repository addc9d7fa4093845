// Whether an order of slots is a training step: complete, in the order of data flow, and without deadlock. It knows
// what F, B, I and W need, and nothing of how schedules are made.
#ifndef XLC_PIPELINE_PIPELINECHECK_H
#define XLC_PIPELINE_PIPELINECHECK_H

#include "xlc/Pipeline/Pipeline.h"

namespace xlc {

/// What is wrong with the order, if anything: a slot that is on the wrong rank, is missing or comes twice ("rank 1 runs
/// F of chunk 1 for micro-batch 0 twice"), or the slots that wait for each other.
std::optional<std::string> findOrderError(const PipelineSchedule &schedule, const PipelineShape &shape,
                                          const PipelineOrder &order);

} // namespace xlc

#endif
