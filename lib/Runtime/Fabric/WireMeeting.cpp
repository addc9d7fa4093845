// See WireMeeting.h.
#include "WireMeeting.h"

#include <array>

namespace xlc::runtime {

std::span<const uint64_t> WireMeeting::share(std::span<const uint64_t> own, Pulse *pulse) {
  commons.stop().throwIfRaised();
  uint32_t before = meetings.load(std::memory_order_acquire);
  words.assign(own.begin(), own.end());
  wire.meet(words, meetings);
  waiter.waitWhile(meetings, before, pulse);
  return words;
}

void WireMeeting::meet(Pulse *pulse) {
  Request &request = commons.request();
  std::array<std::atomic<uint64_t> *, 3> all{&request.signal, &request.lastStep, &request.captureFailed};
  std::array<uint64_t, all.size()> own;
  for (size_t i = 0; i < all.size(); ++i)
    own[i] = *all[i];
  std::span<const uint64_t> largest = share(own, pulse);
  for (size_t i = 0; i < all.size(); ++i)
    Request::raise(*all[i], largest[i]);
}

} // namespace xlc::runtime
