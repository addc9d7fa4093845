// Several threads in one context, for as long as they have something to do beside each other.
#ifndef XLC_PHASES_THREADS_H
#define XLC_PHASES_THREADS_H

#include "mlir/IR/MLIRContext.h"
#include <algorithm>
#include <thread>

namespace xlc {

/// A context of one thread needs no locks, and most of a compilation is one thread's. While this lives, the context is
/// for several, where the machine has them. The first that lives is made and destroyed while only one thread uses the
/// context; others change nothing.
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

  /// That have a plan of their own in memory, at most.
  static unsigned count() { return std::clamp(std::thread::hardware_concurrency(), 1u, kMost); }

private:
  static constexpr unsigned kMost = 4;
  mlir::MLIRContext &context;
  const bool isFirst;
};

} // namespace xlc

#endif
