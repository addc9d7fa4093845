// Two processes prove to each other that they have the same secret, without sending it: each draws a number, and gets back a
// digest of both numbers that needs the secret (HMAC of RFC 2104 with SHA-256 of FIPS 180-4).
//
// A process without the secret cannot prove it. An eavesdropper can try guesses offline, so the secret must be a long random one.
// Later frames are neither encrypted nor signed: a proof does not show that they were read or changed on their way.
#ifndef XLC_LIB_RUNTIME_TCP_PROOF_H
#define XLC_LIB_RUNTIME_TCP_PROOF_H

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace xlc::runtime::tcp {

using Digest = std::array<unsigned char, 32>;
/// Drawn by the system, for one connection.
using Nonce = std::array<unsigned char, 16>;

Digest sha256(std::string_view bytes);
Digest keyedDigest(std::string_view key, std::string_view bytes);
/// Takes as long wherever they differ.
bool areEqual(const Digest &one, const Digest &other);
/// Throws NotStarted where the system draws none.
Nonce drawNonce();

/// What a proof is of: one connection between rank 0 and another one.
struct Encounter {
  uint32_t job;
  int32_t rank;
  Nonce ofRank, ofZero;
};
enum class Side : uint32_t { Zero, Rank };

/// What a side answers.
Digest proofOf(Side side, const Encounter &encounter, std::string_view secret);

} // namespace xlc::runtime::tcp

#endif
