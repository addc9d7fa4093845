// See SlowFabric.h. A message comes to the link when its bytes have really been moved.
#include "SlowFabric.h"

#include <chrono>
#include <thread>

namespace xlc::runtime {
namespace {

std::chrono::nanoseconds sinceEpoch() { return std::chrono::steady_clock::now().time_since_epoch(); }

} // namespace

void SlowFabric::pass(int rank, int64_t begin, uint64_t bytes) {
  int64_t end = 0;
  {
    Link &link = links[(size_t)rank];
    std::lock_guard lock(link.mutex);
    end = link.free = std::max(link.free, begin) + (int64_t)(1e9 * (double)bytes / bytesPerSecond);
  }
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(end)));
}

void SlowFabric::exchange(const Exchange &exchange, const Participant &self) {
  uint64_t before = self.moved.total();
  inner.exchange(exchange, self);
  int64_t met = sinceEpoch().count();
  pass(self.rank, met, self.moved.total() - before);
}

/// Who sends waits as long as who receives.
void SlowFabric::send(const Message &message, const char *from, const Participant &self) {
  inner.send(message, from, self);
  pass(self.rank, sinceEpoch().count(), message.bytes);
}

void SlowFabric::receive(const Message &message, char *to, const Participant &self) {
  inner.receive(message, to, self);
  pass(self.rank, sinceEpoch().count(), message.bytes);
}

} // namespace xlc::runtime
