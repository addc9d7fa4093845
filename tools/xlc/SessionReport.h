// The report of a session that has run its phases, and files of it.
#ifndef XLC_TOOLS_XLC_SESSIONREPORT_H
#define XLC_TOOLS_XLC_SESSIONREPORT_H

#include "Session.h"
#include "xlc/Report/Report.h"

namespace xlc {

/// Excludes the parts that only `xlc plan` shows: the same in float32, and changes of the spec.
PlanReport reportOf(Session &session);

/// Writes a whole file, or none: Done, or Rejected if it would replace an input. Throws Failure if it cannot be
/// written.
int writeOutput(Session &session, const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace xlc

#endif
