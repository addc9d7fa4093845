// Enables several threads in one context while there is parallel work.
#ifndef XLC_PHASES_THREADS_H
#define XLC_PHASES_THREADS_H

#include "mlir/IR/MLIRContext.h"
#include <algorithm>
#include <thread>

namespace xlc {

/// A context with one thread requires no locks, and most of a compilation uses one thread. While this object exists,
/// the context allows several threads if the machine has them. The outermost object must be created and destroyed while
/// only one thread uses the context; nested ones have no effect.
class Threads {
public:
  explicit Threads(mlir::MLIRContext &context)
      : context(context), isFirst(!context.isMultithreadingEnabled() && count() > 1) {
    if (isFirst)
      context.enableMultithreading();
  }
  ~Threads() {
    if (isFirst)
      context.disableMultithreading();
  }
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;

  /// The maximum number of threads, each of which has a plan of its own in memory.
  static unsigned count() { return std::clamp(std::thread::hardware_concurrency(), 1u, kMost); }

private:
  static constexpr unsigned kMost = 4;
  mlir::MLIRContext &context;
  const bool isFirst;
};

} // namespace xlc

#endif
