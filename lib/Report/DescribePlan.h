// A plan in one line, for all forms of its report.
#ifndef XLC_LIB_REPORT_DESCRIBEPLAN_H
#define XLC_LIB_REPORT_DESCRIBEPLAN_H

#include "xlc/Report/Report.h"

namespace xlc {

/// "dp 4, pp 2, zero_stage 3, batch 8 = 2 x 1 micro-batch x 4 ranks"
std::string describePlan(const PlanReport &report);

/// "each of ranks 0-7", or "rank 0".
std::string nameRanks(llvm::ArrayRef<int64_t> ranks);

/// The stage whose ranks need most memory.
const GroupReport *findFullest(const PlanReport &report);

constexpr size_t kFullStages = 4; ///< of more pipeline stages, each has a line, and three are shown in full

/// The stages that a long report shows in full: all, or, if there are many, the first, the fullest and the last.
std::vector<const GroupReport *> listShown(const PlanReport &report, bool isVerbose);

} // namespace xlc

#endif
