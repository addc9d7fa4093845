// Writes the trace of a run as Chrome trace events (chrome://tracing, Perfetto), with the names of the plan.
#ifndef XLC_LIB_RUNTIME_JOB_TRACEFILE_H
#define XLC_LIB_RUNTIME_JOB_TRACEFILE_H

#include "Device/Trace.h"
#include "Plan/Ranks.h"

namespace xlc::runtime {

/// Writes the traces of all ranks, by number. Throws Rejected if `path` cannot be written.
void writeTrace(const std::string &path, const Plan &plan, const std::vector<RankTrace> &ranks);

} // namespace xlc::runtime

#endif
