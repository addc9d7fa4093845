// See Proof.h.
#include "Proof.h"

#include "Failure.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <vector>

namespace xlc::runtime::tcp {
namespace {

constexpr size_t blockBytes = 64;

/// The first bits behind the point of the square roots of the first eight primes.
constexpr uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
/// Of the cube roots of the first 64 primes.
constexpr uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void mix(std::array<uint32_t, 8> &state, const unsigned char *block) {
  std::array<uint32_t, 64> words = {};
  for (size_t i = 0; i < blockBytes; ++i)
    words[i / sizeof(uint32_t)] = words[i / sizeof(uint32_t)] << 8 | block[i];
  for (size_t i = 16; i < 64; ++i) {
    uint32_t near = words[i - 2], far = words[i - 15];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(far, 7) ^ std::rotr(far, 18) ^ far >> 3) +
               (std::rotr(near, 17) ^ std::rotr(near, 19) ^ near >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + rounds[i] +
                   words[i],
             two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const uint32_t changed[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i)
    state[i] += changed[i];
}

std::string_view textOf(const Digest &digest) { return {(const char *)digest.data(), digest.size()}; }

} // namespace

Digest sha256(std::string_view bytes) {
  std::vector<unsigned char> padded(bytes.begin(), bytes.end());
  padded.push_back(0x80);
  padded.resize((padded.size() + 8 + blockBytes - 1) / blockBytes * blockBytes);
  for (size_t i = 0; i < 8; ++i)
    padded[padded.size() - 1 - i] = (unsigned char)((uint64_t)bytes.size() * 8 >> 8 * i);
  std::array<uint32_t, 8> state;
  std::copy_n(first, 8, state.begin());
  for (size_t at = 0; at < padded.size(); at += blockBytes)
    mix(state, &padded[at]);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = (unsigned char)(state[i / 4] >> 8 * (3 - i % 4));
  return digest;
}

Digest keyedDigest(std::string_view key, std::string_view bytes) {
  Digest shortened;
  if (key.size() > blockBytes) {
    shortened = sha256(key);
    key = textOf(shortened);
  }
  std::string inner(blockBytes, 0x36), outer(blockBytes, 0x5c);
  for (size_t i = 0; i < key.size(); ++i)
    inner[i] = (char)(inner[i] ^ key[i]), outer[i] = (char)(outer[i] ^ key[i]);
  Digest within = sha256(inner.append(bytes));
  return sha256(outer.append(textOf(within)));
}

bool areEqual(const Digest &one, const Digest &other) {
  unsigned differs = 0;
  for (size_t i = 0; i < one.size(); ++i)
    differs |= (unsigned)(one[i] ^ other[i]);
  return differs == 0;
}

Nonce drawNonce() {
  Nonce drawn;
  if (getrandom(drawn.data(), drawn.size(), 0) != (ssize_t)drawn.size())
    throw NotStarted(fmt::format("error: the system draws no random numbers: {}", std::strerror(errno)));
  return drawn;
}

Digest proofOf(Side side, const Encounter &encounter, std::string_view secret) {
  std::string said = "xlc ";
  auto add = [&](const auto &value) { said.append((const char *)&value, sizeof value); };
  add(side), add(encounter.job), add(encounter.rank), add(encounter.ofRank), add(encounter.ofZero);
  return keyedDigest(secret, said);
}

} // namespace xlc::runtime::tcp
