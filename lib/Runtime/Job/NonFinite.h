// Finds numbers that are not finite among the elements of a tensor in memory: the first of each kind, and the largest
// magnitude of the others. It compares bits: a number whose exponent bits are all set is infinite or NaN.
#ifndef XLC_LIB_RUNTIME_JOB_NONFINITE_H
#define XLC_LIB_RUNTIME_JOB_NONFINITE_H

#include "Plan/Elements.h"

#include <optional>
#include <string>

namespace xlc::runtime {

struct NonFinite {
  std::optional<uint64_t> nan, infinite; ///< the first such elements, in the order of the tensor
  double largest = 0;                    ///< the largest magnitude of finite elements

  bool isFound() const { return nan || infinite; }
};

/// `memory`: begins with the tensor's first element. For types other than floats the result is empty.
NonFinite findNonFinite(const plan::ViewT &view, const char *memory);

/// The place of an element in its tensor: "[0, 3]", or "[]" for a scalar.
std::string describeIndex(const plan::ViewT &view, uint64_t element);

/// The value of an element that is not finite: "nan", "inf" or "-inf".
std::string describeElement(const plan::ViewT &view, const char *memory, uint64_t element);

} // namespace xlc::runtime

#endif
