// "It does not fit; what would?"
#ifndef XLC_SEARCH_CHANGES_H
#define XLC_SEARCH_CHANGES_H

#include "xlc/Search/Search.h"

namespace xlc {

/// A change of the spec, and what would become of the plan.
struct Change {
  std::string what; ///< as one would write it in the spec: "zero_stage: 2"
  int64_t total;    ///< bytes of the fullest rank
  Quantity traffic; ///< bytes per step of the rank that reads most
  bool fits;
};

/// Single changes of the spec that make the plan fit; where none does, the one that comes nearest, if it takes less than
/// the `total` bytes that the spec takes as it is. Keeps the global batch. What could not be planned is told to `notes`,
/// which may be null.
std::vector<Change> findChanges(const Spec &spec, int64_t total, const Planners &planners, llvm::raw_ostream *notes);

} // namespace xlc

#endif
