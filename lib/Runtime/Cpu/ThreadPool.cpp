// See ThreadPool.h. A task is published by incrementing its number; the last thread to finish brings `pending` to zero.
#include "ThreadPool.h"

#include <utility>

namespace xlc::runtime {

ThreadPool::ThreadPool(int threads, int spins) : threads(threads), spins(spins) {
  try {
    for (int thread = 1; thread < threads; ++thread)
      others.emplace_back([this, thread] { serve(thread); });
  } catch (...) {
    end();
    throw;
  }
}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::end() {
  ending = true;
  task.fetch_add(1, std::memory_order_release);
  wakeAll(task);
  for (std::thread &thread : others)
    thread.join();
}

void ThreadPool::serve(int thread) {
  for (uint32_t seen = 0;; ++seen) {
    waitWhile(task, seen, spins, never);
    if (ending)
      return;
    if (thread < parts)
      callPart(thread);
    if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
      wakeAll(pending);
  }
}

void ThreadPool::callPart(int thread) {
  try {
    function(context, thread);
  } catch (...) {
    std::lock_guard lock(failureMutex);
    if (!failure)
      failure = std::current_exception();
  }
}

void ThreadPool::runErased(int count, Function work, void *with) {
  if (count <= 1 || threads == 1) {
    for (int part = 0; part < count; ++part)
      work(with, part);
    return;
  }
  function = work, context = with, parts = count;
  pending.store(threads - 1, std::memory_order_relaxed);
  task.fetch_add(1, std::memory_order_release);
  wakeAll(task);
  callPart(0);
  for (uint32_t left; (left = pending.load(std::memory_order_acquire)) != 0;)
    waitWhile(pending, left, spins, never);
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

} // namespace xlc::runtime
