// The comparison with PyTorch's own numbers, if a model has a reference (include/xlc/Reference/Reference.h).
#ifndef XLC_TOOLS_XLC_REFERENCECHECK_H
#define XLC_TOOLS_XLC_REFERENCECHECK_H

#include "Session.h"

namespace xlc {

/// `--check-budget` of plan and compile.
struct CheckOptions {
  double seconds = 10;

  void addTo(CLI::App &command);
  static CheckOptions unlimited() { return {1e9}; }
};

/// After the phases up to the plan: one step of the unpartitioned program, by the compiled kernels of this machine's processor, on the
/// rows of the reference. Done, also where there is none or nothing could be compared, which is said in a line;
/// VerificationFailed where something trains otherwise than in PyTorch; Rejected where the file is none.
int checkReference(Session &session, const CheckOptions &options);

} // namespace xlc

#endif
