// Pinned memory through which the host's bytes are copied to the device: a ring of pieces. A copy begins when the queue
// reaches it, so a piece is rewritten only when the copies from it have ended. If the device is not far behind, the
// host does not wait.
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

  /// Appends a copy of these bytes to the queue. The bytes may change after the return.
  void write(Address to, const void *from, uint64_t bytes);

private:
  void beginPiece();

  const Driver &driver;
  const Stream stream;
  const Pinned pinned;
  char *const memory;
  std::array<OwnedEvent, pieces> events;
  uint64_t piece = 0, used = 0; ///< bytes of a piece; bytes used in the current one
};

} // namespace xlc::runtime::cuda

#endif
