// The threads of one rank. The rank's own thread is number 0; the others sleep between tasks.
#ifndef XLC_LIB_RUNTIME_CPU_THREADPOOL_H
#define XLC_LIB_RUNTIME_CPU_THREADPOOL_H

#include "Fabric/Waiting.h"

#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace xlc::runtime {

class ThreadPool {
public:
  ThreadPool(int threads, int spins);
  ~ThreadPool();

  int size() const { return threads; }

  /// Calls work(part) for parts 0 ... parts - 1, part i on thread i; parts <= size(). Rethrows the exception of a part.
  template <class Work> void run(int parts, Work &&work) {
    runErased(parts, [](void *context, int part) { (*static_cast<Work *>(context))(part); }, (void *)&work);
  }

private:
  using Function = void (*)(void *, int);
  void runErased(int parts, Function function, void *context);
  void serve(int thread);
  void end();
  void callPart(int thread);

  const int threads, spins;
  StopSignal never;
  Function function = nullptr;
  void *context = nullptr;
  int parts = 0;
  bool ending = false;
  std::exception_ptr failure;
  std::mutex failureMutex;
  alignas(64) std::atomic<uint32_t> task{0};
  alignas(64) std::atomic<uint32_t> pending{0};
  std::vector<std::thread> others;
};

} // namespace xlc::runtime

#endif
