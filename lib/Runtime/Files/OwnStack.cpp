// See OwnStack.h. The stack of a thread is ordinary memory. The limit applies only to the stack of the first thread and
// to the default size for others.
#include "OwnStack.h"

#include <csignal>
#include <pthread.h>
#include <sys/resource.h>

#include <system_error>
#include <thread>

namespace xlc::runtime {

int runWithOwnStack(const std::function<int()> &work) {
  constexpr rlim_t wanted = 8 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || (limit.rlim_cur >= wanted && limit.rlim_cur != RLIM_INFINITY))
    return work();
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    if (pthread_attr_setstacksize(&attributes, wanted) == 0)
      pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  if (limit.rlim_cur == RLIM_INFINITY)
    return work();
  int code = 0;
  std::thread thread;
  try {
    thread = std::thread([&] { code = work(); });
  } catch (const std::system_error &) { // no thread can be made: this one has to do
  }
  if (!thread.joinable())
    return work();
  sigset_t all; // signals are handled where work is done, and can be held there
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  thread.join();
  return code;
}

} // namespace xlc::runtime
