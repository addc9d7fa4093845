// Random bits that depend on their purpose, not on the rank or the time at which they are drawn: Philox 4x32-10 (Salmon
// et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011). The runtime, the interpreter and generated kernels
// (graph.random_bits) draw the same bits by this definition; no LLVM, no plan.
//
//   element e, subsequence s   word e mod 4 of philox(counter = (e div 4 low, e div 4 high, s low, s high), key)
//
// A subsequence is cuRAND's term for an independent sequence of numbers under one key. Each parameter has one: the hash
// of its name. So has each site, a node of the model that draws random bits: its number.
#ifndef XLC_RUNTIME_PHILOX_H
#define XLC_RUNTIME_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace xlc::runtime {

/// Constants of Philox 4x32: the multipliers of a round, and the increments of the key after a round.
inline constexpr uint32_t kPhiloxLeft = 0xD2511F53, kPhiloxRight = 0xCD9E8D57;
inline constexpr uint32_t kPhiloxKeyLow = 0x9E3779B9, kPhiloxKeyHigh = 0xBB67AE85;
inline constexpr int kPhiloxRounds = 10;

/// The number of words of each counter in memory.
inline constexpr int64_t kPhiloxWords = 4;

/// Ten rounds on counter and key.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    uint64_t left = (uint64_t)kPhiloxLeft * c[0], right = (uint64_t)kPhiloxRight * c[2];
    c = {(uint32_t)(right >> 32) ^ c[1] ^ key[0], (uint32_t)right, (uint32_t)(left >> 32) ^ c[3] ^ key[1],
         (uint32_t)left};
    key[0] += kPhiloxKeyLow;
    key[1] += kPhiloxKeyHigh;
  }
  return c;
}

constexpr std::array<uint32_t, 2> splitWords(uint64_t value) { return {(uint32_t)value, (uint32_t)(value >> 32)}; }

/// The four words of elements 4 `counter` to 4 `counter` + 3 of a subsequence.
constexpr std::array<uint32_t, 4> drawFour(uint64_t counter, uint64_t subsequence, uint64_t key) {
  auto [low, high] = splitWords(counter);
  auto [first, second] = splitWords(subsequence);
  return philox({low, high, first, second}, splitWords(key));
}

/// 32 random bits of one element.
constexpr uint32_t drawWord(uint64_t element, uint64_t subsequence, uint64_t key) {
  return drawFour(element / kPhiloxWords, subsequence, key)[element % kPhiloxWords];
}

/// The key of a step's random bits, from the run's seed and the number of the step, from 1.
constexpr uint64_t keyOfStep(uint64_t seed, uint64_t step) {
  auto [low, high] = splitWords(step);
  auto bits = philox({low, high, 0, 0}, splitWords(seed));
  return bits[0] | (uint64_t)bits[1] << 32;
}

/// The subsequence of a site: a node of the model that draws random bits, numbered from 0 in the order of the file.
inline constexpr uint64_t kSiteSpace = 0x64726177;
constexpr uint64_t subsequenceOfSite(uint64_t site) { return kSiteSpace << 32 | site; }

/// The subsequence of a name: FNV-1a, 64 bits.
constexpr uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name)
    hash = (hash ^ (unsigned char)c) * 0x100000001b3;
  return hash;
}

} // namespace xlc::runtime

#endif
