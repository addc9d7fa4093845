// Pinned memory through which the host's bytes go to the device: a ring of pieces. A copy begins when the queue comes to it, so a
// piece is written again only when the copies out of it are over; where the device is not far behind, nobody waits.
//
//     | copied | copied | being filled | free ... |       each piece has an event, recorded when the next one is begun
#ifndef XLC_LIB_RUNTIME_CUDA_STAGING_H
#define XLC_LIB_RUNTIME_CUDA_STAGING_H

#include "Handles.h"

#include <array>

namespace xlc::runtime::cuda {

class Staging {
public:
  static constexpr uint64_t pieces = 4, pieceBytes = 2 << 20;

  Staging(const Driver &driver, Stream stream);
  Staging(const Staging &) = delete;

  /// Appends the copy of these bytes to the queue; they may change when this returns.
  void write(Address to, const void *from, uint64_t bytes);

private:
  void beginPiece();

  const Driver &driver;
  const Stream stream;
  const Pinned pinned;
  char *const memory;
  std::array<OwnedEvent, pieces> events;
  uint64_t piece = 0, used = 0; ///< bytes of the piece
};

} // namespace xlc::runtime::cuda

#endif
