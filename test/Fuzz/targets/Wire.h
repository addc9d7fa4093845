// Damages protobuf in its structure: fields are dropped, doubled, exchanged, connected otherwise or made extreme, and
// the lengths around them are right again. Of bytes changed at random nearly all end at the first length that is wrong.
//
// Which payloads are messages is not in the file: those that can be read as one are taken for one.
#ifndef XLC_TEST_FUZZ_TARGETS_WIRE_H
#define XLC_TEST_FUZZ_TARGETS_WIRE_H

#include <cstddef>
#include <cstdint>

namespace xlc::fuzz {

/// Changes the `size` bytes of a message in place, in a buffer of `capacity`; returns the new size, 0 where that
/// failed.
size_t mutateWire(uint8_t *data, size_t size, size_t capacity, unsigned seed);

} // namespace xlc::fuzz

#endif
