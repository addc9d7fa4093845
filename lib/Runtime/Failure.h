// How a job ends early. It is asked to, by a signal, and ends after a step; or there is one failure, one message, and
// every rank gets to know.
//
// The first rank that fails raises the signal; the others notice at their next barrier or call and unwind with
// `Stopped`, which says nothing of its own. The signal may lie in memory that several processes see: it holds no
// pointer, and all zero it is not raised.
#ifndef XLC_LIB_RUNTIME_FAILURE_H
#define XLC_LIB_RUNTIME_FAILURE_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace xlc::runtime {

/// Exit codes of the training program. README.md has the table.
enum class Exit { Done = 0, Rejected = 1, Usage = 2, RankFailed = 5, NoCheckpoint = 6, NonFinite = 7, Internal = 70 };

/// The exit code of a failed job, as another process sent it; RankFailed in place of a code that no failure has.
constexpr Exit failureOf(uint64_t code) {
  for (Exit known : {Exit::Rejected, Exit::Usage, Exit::NoCheckpoint, Exit::NonFinite, Exit::Internal})
    if (code == (uint64_t)known)
      return known;
  return Exit::RankFailed;
}

/// The user's files or options do not fit: exit 1. Several complaints are lines of one message.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// There is no checkpoint that could be resumed, though one was asked for: exit 6.
struct NoCheckpoint : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The system gives no memory or no process for the ranks: exit 5.
struct NotStarted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A device, or a library that works on it, failed: exit 5.
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What ranks exchange by has failed: whatever else they would exchange may hang or be wrong.
struct ExchangeFailure : DeviceFailure {
  using DeviceFailure::DeviceFailure;
};

/// Unwinds a rank that was told to stop.
struct Stopped {};

/// What is said where memory ran out, of which a message would need some.
inline constexpr char noMemoryMessage[] = "error: out of memory: the arena of the plan and the process itself must "
                                          "fit; ulimit -v or a container may set a limit\n";

/// Raised at most once, by whoever fails first.
class StopSignal {
public:
  /// Whether this call was the first. Of a long text the end is left out.
  bool raise(Exit code, std::string_view text) {
    uint32_t was = Quiet;
    if (!phase.compare_exchange_strong(was, Claimed, std::memory_order_relaxed) && !takeOver())
      return false;
    exitCode = code;
    message[text.copy(message, sizeof message - 1)] = 0;
    phase.store(Raised, std::memory_order_release);
    return true;
  }
  bool isRaised() const { return phase.load(std::memory_order_acquire) == Raised; }
  void throwIfRaised() const {
    if (isRaised())
      throw Stopped();
  }
  /// Once it is raised.
  Exit code() const { return exitCode; }
  std::string text() const { return message; }
  /// Whether it falls to the caller to say the text: to the first who asks.
  bool claimText() { return !isSaid.exchange(true); }

private:
  enum Phase : uint32_t { Quiet, Claimed, TakenOver, Raised };
  /// Who claimed the signal may have been killed before it was raised. Whether it falls to this caller now.
  bool takeOver() {
    for (int i = 0; i < 100 && phase.load(std::memory_order_acquire) == Claimed; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    uint32_t claimed = Claimed;
    return phase.compare_exchange_strong(claimed, TakenOver, std::memory_order_relaxed);
  }
  std::atomic<uint32_t> phase{Quiet};
  std::atomic<bool> isSaid{false};
  Exit exitCode = Exit::Done;
  char message[8192] = {};
};

/// What one rank tells all others: that the job ends, or how it goes on. Words only grow, and whenever all ranks meet, all
/// see the largest that one of them had. All zero at first.
struct Request {
  std::atomic<uint64_t> signal;           ///< of those that asked
  std::atomic<uint64_t> lastStep;         ///< after which the job ends; 0: after all
  std::atomic<uint64_t> captureFailed;    ///< 1: steps are no graphs, since one of a rank cannot be captured
  std::atomic<uint64_t> checkpoint;       ///< 1 + the step after which one is written
  std::atomic<uint64_t> checkpointBusy;   ///< 1 + the last step in which one was still being written
  std::atomic<uint64_t> checkpointFailed; ///< 1 + the step of the last that could not be
  std::atomic<uint64_t> checkpointFolder; ///< by which hosts see that their folder of checkpoints is that of rank 0
  std::atomic<uint64_t> damaged;          ///< how many of the checkpoints that could be resumed are of no use
  std::atomic<uint64_t> isSpoiled;        ///< the step whose numbers are not of use: nothing after it is saved; 0: none
  std::atomic<uint64_t> found;            ///< ~key of the first value that is not finite (Job/StepOrder.h); 0: none
  std::atomic<uint64_t> generated;        ///< number of generated tokens << 32 | the last token

  /// All of them.
  static constexpr std::atomic<uint64_t> Request::*words[] = {&Request::signal,           &Request::lastStep,
                                                              &Request::captureFailed,    &Request::checkpoint,
                                                              &Request::checkpointBusy,   &Request::checkpointFailed,
                                                              &Request::checkpointFolder, &Request::damaged,
                                                              &Request::isSpoiled,        &Request::found,
                                                              &Request::generated};

  static void raise(std::atomic<uint64_t> &word, uint64_t value) {
    for (uint64_t was = word.load(); was < value && !word.compare_exchange_weak(was, value);)
      ;
  }
};

} // namespace xlc::runtime

#endif
