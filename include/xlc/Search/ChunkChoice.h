// How many rows of the logits exist at once, and why.
#ifndef XLC_SEARCH_CHUNKCHOICE_H
#define XLC_SEARCH_CHUNKCHOICE_H

#include "xlc/Search/Search.h"

namespace xlc {

struct ChunkChoice {
  int64_t rows = 0;             ///< of a chunk; 0: all at once
  int64_t all = 0;              ///< rows of a micro-batch; 0: they cannot be cut
  std::optional<int64_t> whole; ///< where memory decided: bytes that the fullest rank takes at least with all at once
};

/// What `loss.chunk: auto` means for a loss of `rows` rows: all, where a plan of that fits cluster.device_memory; else a
/// quarter, a sixteenth or a sixty-fourth, the first that fits; all again where none does.
ChunkChoice chooseChunk(const Spec &spec, int64_t rows, const Planners &planners);

} // namespace xlc

#endif
