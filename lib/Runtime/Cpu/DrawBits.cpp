// See DrawBits.h. Philox as in Philox.cpp, word by word of many counters: a word is the lower half of a lane of 64 bits, so
// that a product of two words is one instruction, which looks at lower halves alone.
#include "DrawBits.h"

#include "Vector.h"

namespace xlc::runtime {
namespace {

using Key = std::array<uint32_t, 2>;

/// Ten rounds on N counters: `words` becomes their 4 N words, counter by counter.
template <int N> XLC_INLINE void drawCounters(Key key, uint64_t nameHash, uint64_t first, uint64_t *words) {
  typedef uint64_t Lanes __attribute__((vector_size(N * 8)));
  constexpr uint64_t low = 0xffffffff;
  Lanes index{};
  for (int i = 0; i < N; ++i)
    index[i] = first + i;
  Lanes c0 = index, c1 = index >> 32, c2 = Lanes{} + (nameHash & low), c3 = Lanes{} + (nameHash >> 32);
  for (int round = 0; round < 10; ++round) {
    Lanes left = (c0 & low) * 0xD2511F53, right = (c2 & low) * 0xCD9E8D57;
    c0 = (right >> 32) ^ c1 ^ (uint64_t)key[0];
    c1 = right;
    c2 = (left >> 32) ^ c3 ^ (uint64_t)key[1];
    c3 = left;
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  Lanes front = (c0 & low) | c1 << 32, back = (c2 & low) | c3 << 32;
  for (int i = 0; i < N; ++i)
    words[2 * i] = front[i], words[2 * i + 1] = back[i];
}

/// Elements [begin, begin + count) of the parameter of this name.
template <int N> XLC_INLINE void drawRun(Key key, uint64_t nameHash, uint64_t begin, uint64_t count, uint32_t *to) {
  constexpr uint64_t together = 4 * N;
  uint64_t end = begin + count, words[2 * N];
  for (uint64_t at = begin / 4 * 4; at < end; at += together) {
    drawCounters<N>(key, nameHash, at / 4, words);
    uint64_t from = std::max(begin, at), last = std::min(end, at + together);
    if (last - from == together) // a size that the compiler knows
      std::memcpy(to + (from - begin), words, sizeof words);
    else
      std::memcpy(to + (from - begin), (const char *)words + (from - at) * 4, (last - from) * 4);
  }
}

void drawBaseline(Key key, uint64_t nameHash, uint64_t begin, uint64_t count, uint32_t *to) {
  drawRun<4>(key, nameHash, begin, count, to);
}
XLC_AVX2 void drawAvx2(Key key, uint64_t nameHash, uint64_t begin, uint64_t count, uint32_t *to) {
  drawRun<8>(key, nameHash, begin, count, to);
}
XLC_AVX512 void drawAvx512(Key key, uint64_t nameHash, uint64_t begin, uint64_t count, uint32_t *to) {
  drawRun<16>(key, nameHash, begin, count, to);
}

} // namespace

void drawBits(const RandomBits &bits, uint64_t begin, uint64_t count, uint32_t *to) {
  Isa isa = findIsa();
  auto *draw = isa == Isa::Avx512 ? drawAvx512 : isa == Isa::Avx2 ? drawAvx2 : drawBaseline;
  uint64_t end = 0; // of what is drawn
  auto pad = [&](uint64_t upTo) {
    std::fill(to + end, to + upTo, 0);
    end = upTo;
  };
  bits.forEachRun(begin, count, [&](const RandomBits::Run &run) {
    pad(run.at);
    draw(bits.getKey(), run.nameHash, run.first, run.count, to + run.at);
    end += run.count;
  });
  pad(count);
}

} // namespace xlc::runtime
