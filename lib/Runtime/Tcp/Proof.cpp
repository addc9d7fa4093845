// See Proof.h.
#include "Proof.h"

#include "Failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sha2.h>
#include <sys/random.h>

namespace xlc::runtime::tcp {
namespace {

constexpr size_t hashedBytes = SHA256_BLOCK_LENGTH;

std::string_view textOf(const Digest &digest) { return {(const char *)digest.data(), digest.size()}; }

} // namespace

Digest sha256(std::string_view bytes) {
  Digest digest;
  static_assert(std::tuple_size_v<Digest> == SHA256_DIGEST_LENGTH);
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, (const uint8_t *)bytes.data(), bytes.size());
  SHA256Final(digest.data(), &state);
  return digest;
}

Digest keyedDigest(std::string_view key, std::string_view bytes) {
  Digest shortened;
  if (key.size() > hashedBytes) {
    shortened = sha256(key);
    key = textOf(shortened);
  }
  std::string inner(hashedBytes, 0x36), outer(hashedBytes, 0x5c);
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
    throw NotStarted(fmt::format("error: getrandom failed: {}", std::strerror(errno)));
  return drawn;
}

Digest proofOf(Side side, const Encounter &encounter, std::string_view secret) {
  std::string said = "xlc ";
  auto add = [&](const auto &value) { said.append((const char *)&value, sizeof value); };
  add(side), add(encounter.job), add(encounter.rank), add(encounter.ofRank), add(encounter.ofZero);
  return keyedDigest(secret, said);
}

} // namespace xlc::runtime::tcp
