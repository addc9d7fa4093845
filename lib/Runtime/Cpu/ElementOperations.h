// Operations on elements of each type, by which a CPU sums floats of several ranks. A GPU does it in
// lib/Lower/Device/Combine.cpp, with the same bits (unittests/Lower/DeviceSumTests.cpp).
#ifndef XLC_LIB_RUNTIME_CPU_ELEMENTOPERATIONS_H
#define XLC_LIB_RUNTIME_CPU_ELEMENTOPERATIONS_H

#include "Fabric/Mover.h"

namespace xlc::runtime {

/// to[i] = sources[0][from + i] combined with sources[1][from + i], ..., in that order; `add` adds that to to[i]. `to`
/// may be one of the sources. If elements are transmitted in another type, sources and combination are rounded to it.
using CombineRange = void (*)(std::span<const char *const> sources, uint64_t from, uint64_t count, char *to, bool add);

/// Throws std::invalid_argument for elements that cannot be combined, or cannot be transmitted as `wire`.
CombineRange findCombination(Combine how, plan::Element element, plan::Element wire);

/// Writes `count` elements to `to` in another type.
using ConvertRange = void (*)(const char *from, uint64_t count, char *to);

/// Converts between F32 and sixteen bits. Throws std::invalid_argument for other types.
ConvertRange findConversion(plan::Element element, plan::Element other);

} // namespace xlc::runtime

#endif
