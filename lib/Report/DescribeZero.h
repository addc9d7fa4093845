// The ZeRO options that the spec leaves open, in words: the choice, its meaning, and the reason.
#ifndef XLC_LIB_REPORT_DESCRIBEZERO_H
#define XLC_LIB_REPORT_DESCRIBEZERO_H

#include "xlc/Report/Report.h"

namespace xlc {

struct ZeroAnswer {
  llvm::StringRef key;   ///< below `zero` in the spec
  llvm::StringRef value; ///< as one would write it there
  llvm::StringRef meaning;
  std::string reason; ///< "given", or "auto: " and why
};

/// Empty if there was no choice to make.
std::vector<ZeroAnswer> describeZero(const PlanReport &report);

llvm::StringRef nameReduce(bool perStep);
llvm::StringRef nameReshard(bool keepsGathered);

} // namespace xlc

#endif
