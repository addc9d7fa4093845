// See SlowFabric.h. A message enters the link when its bytes have actually been moved.
#include "SlowFabric.h"

#include <chrono>
#include <thread>

namespace xlc::runtime {
namespace {

std::chrono::nanoseconds sinceEpoch() { return std::chrono::steady_clock::now().time_since_epoch(); }

} // namespace

void SlowFabric::pass(const Participant &self, int64_t begin, uint64_t bytes) {
  int64_t end = 0;
  {
    Link &link = links[(size_t)self.rank];
    std::lock_guard lock(link.mutex);
    end = link.free = std::max(link.free, begin) + (int64_t)(1e9 * (double)bytes / bytesPerSecond);
  }
  constexpr std::chrono::milliseconds longest(100);
  for (std::chrono::nanoseconds left; (left = std::chrono::nanoseconds(end) - sinceEpoch()).count() > 0;) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, longest));
    if (self.pulse)
      self.pulse->beat(); // it is slow, and does not hang
  }
}

void SlowFabric::exchange(const Exchange &exchange, const Participant &self) {
  uint64_t before = self.moved.total();
  inner.exchange(exchange, self);
  int64_t met = sinceEpoch().count();
  pass(self, met, self.moved.total() - before);
}

/// Who sends waits as long as who receives.
void SlowFabric::send(const Message &message, const char *from, const Participant &self) {
  inner.send(message, from, self);
  pass(self, sinceEpoch().count(), message.bytes);
}

void SlowFabric::receive(const Message &message, char *to, const Participant &self) {
  inner.receive(message, to, self);
  pass(self, sinceEpoch().count(), message.bytes);
}

} // namespace xlc::runtime
