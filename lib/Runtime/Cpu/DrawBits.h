// Draws the random bits that RandomBits.h names, many counters at a time.
#ifndef XLC_LIB_RUNTIME_CPU_DRAWBITS_H
#define XLC_LIB_RUNTIME_CPU_DRAWBITS_H

#include "Device/RandomBits.h"

namespace xlc::runtime {

/// Those of elements [begin, begin + count) of what the rank updates; 0 for what pads it.
void drawBits(const RandomBits &bits, uint64_t begin, uint64_t count, uint32_t *to);

} // namespace xlc::runtime

#endif
