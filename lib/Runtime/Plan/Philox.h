// Random numbers that depend on what they are for, not on who draws them or when.
//
// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011). The counter holds the index
// of a logical element and a hash of the parameter's name, the key holds the seed: a shard and a whole tensor get the
// same values.
#ifndef XLC_LIB_RUNTIME_PLAN_PHILOX_H
#define XLC_LIB_RUNTIME_PLAN_PHILOX_H

#include "Elements.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace xlc::runtime {

/// Ten rounds on counter and key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// FNV-1a, 64 bits.
uint64_t hashName(std::string_view name);

/// The key of a step's random bits, which are drawn by the same seed as initial values.
std::array<uint32_t, 2> keyOfStep(uint64_t seed, uint64_t step);

/// Elements [begin, begin + count) of an infinite row of normal(0, std) numbers named (seed, name), which are drawn in
/// single precision and written as elements of this type.
void fillNormal(uint64_t seed, std::string_view name, double std, uint64_t begin, uint64_t count, plan::Element element,
                void *to);

} // namespace xlc::runtime

#endif
