// Random initial values: numbers of the Philox subsequence of a parameter's name under the run's seed, so that a shard
// and a whole tensor get the same values.
#ifndef XLC_LIB_RUNTIME_PLAN_PHILOX_H
#define XLC_LIB_RUNTIME_PLAN_PHILOX_H

#include "Elements.h"
#include "xlc/Runtime/Philox.h"

#include <cstdint>
#include <string_view>

namespace xlc::runtime {

/// Generates elements [begin, begin + count) of an infinite row of normal(0, std) numbers named (seed, name). They are
/// drawn in single precision and written as elements of this type.
void fillNormal(uint64_t seed, std::string_view name, double std, uint64_t begin, uint64_t count, plan::Element element,
                void *to);

} // namespace xlc::runtime

#endif
