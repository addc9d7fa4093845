// How many rows of the logits are in memory at once, and why.
#ifndef XLC_SEARCH_CHUNKCHOICE_H
#define XLC_SEARCH_CHUNKCHOICE_H

#include "xlc/Search/Search.h"

namespace xlc {

struct ChunkChoice {
  int64_t rows = 0; ///< of a chunk; 0: all rows at once
  int64_t all = 0;  ///< rows of a micro-batch; 0: the loss cannot be chunked
  /// if memory decided: a lower bound for the bytes of the fullest rank with all rows at once
  std::optional<int64_t> whole;
};

/// Resolves `loss.chunk: auto` for a loss of `rows` rows: all rows, if such a plan fits cluster.device_memory;
/// otherwise a quarter, a sixteenth or a sixty-fourth, the first that fits; all rows if none fits.
ChunkChoice chooseChunk(const Spec &spec, int64_t rows, const Planners &planners);

} // namespace xlc

#endif
