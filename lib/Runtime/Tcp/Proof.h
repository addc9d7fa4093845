// Two processes prove to each other that they have the same secret without sending it: each draws a number, and
// receives a digest of both numbers that only the secret can produce (HMAC of RFC 2104 with SHA-256 of FIPS 180-4).
//
// A process without the secret cannot create a proof. An eavesdropper can test guesses offline, so the secret must be
// long and random. Later frames are neither encrypted nor signed: a proof does not protect them from being read or
// changed in transit.
#ifndef XLC_LIB_RUNTIME_TCP_PROOF_H
#define XLC_LIB_RUNTIME_TCP_PROOF_H

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace xlc::runtime::tcp {

using Digest = std::array<unsigned char, 32>;
/// A number drawn by the system for one connection.
using Nonce = std::array<unsigned char, 16>;

Digest sha256(std::string_view bytes);
Digest keyedDigest(std::string_view key, std::string_view bytes);
/// Compares in constant time.
bool areEqual(const Digest &one, const Digest &other);
/// Throws NotStarted if the system cannot draw one.
Nonce drawNonce();

/// The subject of a proof: one connection between rank 0 and another rank.
struct Encounter {
  uint32_t job;
  int32_t rank;
  Nonce ofRank, ofZero;
};
enum class Side : uint32_t { Zero, Rank };

/// The proof of a side.
Digest proofOf(Side side, const Encounter &encounter, std::string_view secret);

} // namespace xlc::runtime::tcp

#endif
