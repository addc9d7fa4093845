// See Barrier.h.
#include "Barrier.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace xlc::runtime {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, int spins, const StopSignal &stop) {
  for (int i = 0; i < spins; ++i) {
    if (word.load(std::memory_order_acquire) != value)
      return;
    pause();
  }
  while (word.load(std::memory_order_acquire) == value) {
    stop.throwIfRaised();
    timespec limit{0, 50'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
  }
}

void wakeAll(const std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

int spinsFor(int threads) { return threads <= (int)std::thread::hardware_concurrency() ? 4000 : 50; }

void Barrier::wait(const StopSignal &stop) {
  stop.throwIfRaised();
  uint32_t now = generation.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members)
    return waitWhile(generation, now, spins, stop);
  arrived.store(0, std::memory_order_relaxed);
  generation.store(now + 1, std::memory_order_release);
  wakeAll(generation);
}

} // namespace xlc::runtime
