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
  std::array<uint64_t, std::size(Request::words)> own;
  for (size_t i = 0; i < own.size(); ++i)
    own[i] = request.*Request::words[i];
  std::span<const uint64_t> largest = share(own, pulse);
  for (size_t i = 0; i < own.size(); ++i)
    Request::raise(request.*Request::words[i], largest[i]);
}

} // namespace xlc::runtime
