// See Checksum.h.
#include "Checksum.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace xlc::runtime {

struct Checksum::State {
  XXH3_state_t xxh;
};

Checksum::Checksum(uint64_t seed) : state(std::make_unique<State>()) { clear(seed); }
Checksum::Checksum(Checksum &&) noexcept = default;
Checksum::~Checksum() = default;

void Checksum::add(const void *from, uint64_t count) { XXH3_64bits_update(&state->xxh, from, count); }

void Checksum::addText(std::string_view text) {
  addNumber(text.size());
  add(text.data(), text.size());
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state->xxh); }

std::string Checksum::digits() const { return fmt::format("{:016x}", value()); }

void Checksum::clear(uint64_t seed) { XXH3_64bits_reset_withSeed(&state->xxh, seed); }

} // namespace xlc::runtime
