// If a plan does not fit: changes of the spec that would make it fit.
#ifndef XLC_SEARCH_CHANGES_H
#define XLC_SEARCH_CHANGES_H

#include "xlc/Search/Search.h"

namespace xlc {

/// A change of the spec and the resulting plan.
struct Change {
  std::string what; ///< in the syntax of the spec: "zero_stage: 2"
  int64_t total;    ///< bytes of the fullest rank
  Quantity traffic; ///< bytes per step of the rank that reads most
  bool fits;
};

/// Single changes of the spec that make the plan fit. If there is none, the change with the smallest plan, if that is
/// smaller than `total`, the bytes of the spec's own plan. All changes keep the global batch. Reports changes that
/// cannot be planned to `notes`, which may be null.
std::vector<Change> findChanges(const Spec &spec, int64_t total, const Planners &planners, llvm::raw_ostream *notes);

} // namespace xlc

#endif
