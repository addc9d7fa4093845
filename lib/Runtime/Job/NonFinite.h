// Numbers that are not finite, among the elements of a tensor in memory: the first of each kind, and how large the
// others are. Works on bits: what all exponent bits are set of is infinite or not a number.
#ifndef XLC_LIB_RUNTIME_JOB_NONFINITE_H
#define XLC_LIB_RUNTIME_JOB_NONFINITE_H

#include "Plan/Elements.h"

#include <optional>
#include <string>

namespace xlc::runtime {

struct NonFinite {
  std::optional<uint64_t> nan, infinite; ///< the first such elements, in the order of the tensor
  double largest = 0;                    ///< magnitude of those that are finite

  bool isFound() const { return nan || infinite; }
};

/// `memory`: from the tensor's first element on. Of a type that is no float nothing is found.
NonFinite findNonFinite(const plan::ViewT &view, const char *memory);

/// The place of an element in its tensor: "[0, 3]", of a number "[]".
std::string describeIndex(const plan::ViewT &view, uint64_t element);

/// Its value: "nan", "-inf".
std::string describeElement(const plan::ViewT &view, const char *memory, uint64_t element);

} // namespace xlc::runtime

#endif
