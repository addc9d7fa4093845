// See Staging.h.
#include "Staging.h"

#include <algorithm>
#include <cstring>

namespace xlc::runtime::cuda {

constexpr uint64_t alignment = 16; // of what is copied by itself

Staging::Staging(const Driver &driver, Stream stream)
    : driver(driver), stream(stream), pinned(allocatePinned(driver, pieces * pieceBytes)),
      memory((char *)pinned.get()) {
  for (OwnedEvent &event : events)
    event = makeEvent(driver);
}

void Staging::beginPiece() {
  driver.check(driver.record(events[piece].get(), stream), "cuEventRecord");
  piece = (piece + 1) % pieces, used = 0;
  Status status = driver.queryEvent(events[piece].get()); // one that was never recorded is over
  if (status == notReady)
    status = driver.waitForEvent(events[piece].get());
  driver.check(status, "cuEventSynchronize");
}

void Staging::write(Address to, const void *from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    if (used == pieceBytes)
      beginPiece();
    uint64_t some = std::min(bytes - done, pieceBytes - used);
    char *staged = memory + piece * pieceBytes + used;
    std::memcpy(staged, (const char *)from + done, some);
    driver.check(driver.copyToDevice(to + done, staged, some, stream), "cuMemcpyHtoDAsync");
    done += some, used = std::min(pieceBytes, (used + some + alignment - 1) / alignment * alignment);
  }
}

} // namespace xlc::runtime::cuda
