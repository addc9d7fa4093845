// The parts of the embedded plan that the IR does not hold.
#ifndef XLC_LIB_PHASES_DESCRIBEPLAN_H
#define XLC_LIB_PHASES_DESCRIBEPLAN_H

#include "Plan_generated.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// Everything but what `fillPlan` fills. The compilation has been through Memory.
std::unique_ptr<plan::PlanT> describePlan(const Compilation &compilation, llvm::StringRef compiler);

/// The spec's data file of an input, as an absolute path; empty where there is none. Names come from the model and are
/// no paths: one with a slash has a file only where the spec names it.
std::string dataPath(const DataSpec &data, llvm::StringRef input);

} // namespace xlc

#endif
