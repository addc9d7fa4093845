// See Philox.h. Four numbers of one counter make two pairs by Box and Muller's transform.
#include "Philox.h"

#include <algorithm>
#include <cmath>

namespace xlc::runtime {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t left = (uint64_t)0xD2511F53 * c[0], right = (uint64_t)0xCD9E8D57 * c[2];
    c = {(uint32_t)(right >> 32) ^ c[1] ^ key[0], (uint32_t)right, (uint32_t)(left >> 32) ^ c[3] ^ key[1],
         (uint32_t)left};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

std::array<uint32_t, 2> keyOfStep(uint64_t seed, uint64_t step) {
  auto bits = philox({(uint32_t)step, (uint32_t)(step >> 32), 0, 0}, {(uint32_t)seed, (uint32_t)(seed >> 32)});
  return {bits[0], bits[1]};
}

uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

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
    auto bits = philox({(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), (uint32_t)hash, (uint32_t)(hash >> 32)},
                       {(uint32_t)seed, (uint32_t)(seed >> 32)});
    auto first = boxMuller(bits[0], bits[1]), second = boxMuller(bits[2], bits[3]);
    float four[4] = {first[0], first[1], second[0], second[1]};
    for (uint64_t lane = i % 4; lane < 4 && i < begin + count; ++lane, ++i)
      putNumber(element, (float)(four[lane] * std), to, i - begin);
  }
}

} // namespace xlc::runtime
