// See Waiting.h.
#include "Waiting.h"

#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/// The kernel finds sleepers of one process by address, those of several by the page that they share.
int operation(int what, Reach reach) { return reach == Reach::Process ? what | FUTEX_PRIVATE_FLAG : what; }

} // namespace

void waitWhile(const std::atomic<uint32_t> &word, uint32_t value, int spins, const StopSignal &stop, Reach reach) {
  for (int i = 0; i < spins; ++i) {
    if (word.load(std::memory_order_acquire) != value)
      return;
    pause();
  }
  while (word.load(std::memory_order_acquire) == value) {
    stop.throwIfRaised();
    timespec limit{0, 50'000'000};
    syscall(SYS_futex, &word, operation(FUTEX_WAIT, reach), value, &limit, nullptr, 0);
  }
}

void wakeAll(const std::atomic<uint32_t> &word, Reach reach) {
  syscall(SYS_futex, &word, operation(FUTEX_WAKE, reach), INT_MAX, nullptr, nullptr, 0);
}

int spinsFor(int threads) { return threads <= (int)std::thread::hardware_concurrency() ? 4000 : 50; }

void wakePromptly() {
  constexpr uint64_t slice = 100'000, slack = 1000; // nanoseconds
  prctl(PR_SET_TIMERSLACK, slack);
  if (sched_getscheduler(0) != SCHED_OTHER)
    return; // who starts the job has decided
  /// The first version of the kernel's struct sched_attr, whose header and sched.h of C libraries exclude each other.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; ///< nanoseconds
  } wish{sizeof wish, SCHED_OTHER, 0, getpriority(PRIO_PROCESS, 0), 0, slice, 0, 0};
  syscall(SYS_sched_setattr, 0, &wish, 0);
}

bool Barrier::arrive(uint32_t members, Reach reach, uint32_t &closed) {
  closed = generation.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < members)
    return true;
  arrived.store(0, std::memory_order_relaxed);
  generation.store(closed + 1, std::memory_order_release);
  wakeAll(generation, reach);
  return false;
}

} // namespace xlc::runtime
