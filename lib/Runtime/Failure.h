// How a job ends early: one failure, one message, and every rank gets to know.
//
// The first rank that fails raises the signal; the others notice at their next barrier or call and unwind with
// `Stopped`, which says nothing of its own.
#ifndef XLC_LIB_RUNTIME_FAILURE_H
#define XLC_LIB_RUNTIME_FAILURE_H

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

namespace xlc::runtime {

/// Exit codes of the training program (docs/Spec.md).
enum class Exit { Done = 0, Rejected = 1, Usage = 2, RankFailed = 5, NonFinite = 7, Internal = 70 };

/// The user's files or options do not fit: exit 1. Several complaints are lines of one message.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Unwinds a rank that was told to stop.
struct Stopped {};

/// Raised at most once, by whoever fails first.
class StopSignal {
public:
  /// Whether this call was the first.
  bool raise(Exit code, std::string text) {
    std::lock_guard lock(mutex);
    if (raised.load(std::memory_order_relaxed))
      return false;
    exitCode = code;
    message = std::move(text);
    raised.store(true, std::memory_order_release);
    return true;
  }
  bool isRaised() const { return raised.load(std::memory_order_acquire); }
  void throwIfRaised() const {
    if (isRaised())
      throw Stopped();
  }
  Exit code() const { return exitCode; }
  const std::string &text() const { return message; }

private:
  std::atomic<bool> raised{false};
  std::mutex mutex;
  Exit exitCode = Exit::Done;
  std::string message;
};

} // namespace xlc::runtime

#endif
