// See Philox.h. The Box-Muller transform converts the four numbers of one counter to two pairs.
#include "Philox.h"

#include <algorithm>
#include <cmath>

namespace xlc::runtime {

namespace {

/// Two normal numbers from 2 x 32 random bits.
std::array<float, 2> boxMuller(uint32_t a, uint32_t b) {
  float radius = std::sqrt(-2 * std::log((a + 0.5f) * 0x1p-32f)), angle = (float)(6.283185307179586 * (b * 0x1p-32));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace

void fillNormal(uint64_t seed, std::string_view name, double std, uint64_t begin, uint64_t count, plan::Element element,
                void *to) {
  uint64_t hash = hashName(name);
  for (uint64_t i = begin; i < begin + count;) {
    auto bits = drawFour(i / 4, hash, seed);
    auto first = boxMuller(bits[0], bits[1]), second = boxMuller(bits[2], bits[3]);
    float four[4] = {first[0], first[1], second[0], second[1]};
    for (uint64_t lane = i % 4; lane < 4 && i < begin + count; ++lane, ++i)
      putNumber(element, (float)(four[lane] * std), to, i - begin);
  }
}

} // namespace xlc::runtime
