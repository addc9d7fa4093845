// The order of one rank's slots under each schedule: the builders of the table in Pipeline.cpp.
#ifndef XLC_LIB_PIPELINE_PIPELINEORDERS_H
#define XLC_LIB_PIPELINE_PIPELINEORDERS_H

#include "xlc/Pipeline/Pipeline.h"

namespace xlc {

// By generators (PipelineGenerators.cpp).
std::vector<Slot> orderGpipe(const PipelineShape &shape, int64_t rank);
std::vector<Slot> orderInterleaved(const PipelineShape &shape, int64_t rank);
std::vector<Slot> orderZeroBubbleV(const PipelineShape &shape, int64_t rank);

// By relations (PipelineRelations.cpp).
std::vector<Slot> order1f1b(const PipelineShape &shape, int64_t rank);
std::vector<Slot> orderEager1f1b(const PipelineShape &shape, int64_t rank);
std::vector<Slot> orderZeroBubbleH1(const PipelineShape &shape, int64_t rank);
std::vector<Slot> orderZeroBubbleH2(const PipelineShape &shape, int64_t rank);

} // namespace xlc

#endif
