// The early end of a job. Either a signal requests it, and the job ends after a step; or there is one failure with one
// message, of which every rank is notified.
//
// The first rank that fails raises the signal. The others detect it at their next barrier or call and unwind with
// `Stopped`, which has no message. The signal may be in memory shared by several processes: it contains no pointer, and
// all zero means not raised.
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

/// Exit codes of the training program, listed in README.md.
enum class Exit { Done = 0, Rejected = 1, Usage = 2, RankFailed = 5, NoCheckpoint = 6, NonFinite = 7, Internal = 70 };

/// The exit code of a failed job, as sent by another process; RankFailed for a code that no failure has.
constexpr Exit failureOf(uint64_t code) {
  for (Exit known : {Exit::Rejected, Exit::Usage, Exit::NoCheckpoint, Exit::NonFinite, Exit::Internal})
    if (code == (uint64_t)known)
      return known;
  return Exit::RankFailed;
}

/// The user's files or options are invalid: exit 1. Several errors are lines of one message.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A checkpoint was required, but none can be resumed: exit 6.
struct NoCheckpoint : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The system does not provide memory or processes for the ranks: exit 5.
struct NotStarted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A device, or one of its libraries, failed: exit 5.
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The communication between ranks has failed: any further exchange may hang or be wrong.
struct ExchangeFailure : DeviceFailure {
  using DeviceFailure::DeviceFailure;
};

/// Unwinds a rank that must stop.
struct Stopped {};

/// The message when memory is exhausted, and no other message can be allocated.
inline constexpr char noMemoryMessage[] = "error: out of memory: the plan's arena and the process itself must fit into "
                                          "memory; ulimit -v or a container may limit it\n";

/// A signal that is raised at most once, by the first failure.
class StopSignal {
public:
  /// Whether this call was the first. Long texts are truncated.
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
  /// Valid once it is raised.
  Exit code() const { return exitCode; }
  std::string text() const { return message; }
  /// Whether the caller must print the text: true for the first call.
  bool claimText() { return !isSaid.exchange(true); }

private:
  enum Phase : uint32_t { Quiet, Claimed, TakenOver, Raised };
  /// The process that claimed the signal may have been killed before it raised it. Whether this caller must raise it
  /// now.
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

/// Data that a rank sends to all others: whether the job ends, and how it continues. Words only increase, and whenever
/// all ranks meet, each gets the maximum over the ranks. Initially all zero.
struct Request {
  std::atomic<uint64_t> signal;           ///< the signal that requested the end
  std::atomic<uint64_t> lastStep;         ///< the step after which the job ends; 0: after all
  std::atomic<uint64_t> captureFailed;    ///< 1: steps are not graphs, since a rank cannot capture one
  std::atomic<uint64_t> checkpoint;       ///< 1 + the step after which one is written
  std::atomic<uint64_t> checkpointBusy;   ///< 1 + the last step in which one was still being written
  std::atomic<uint64_t> checkpointFailed; ///< 1 + the step of the last failed one
  std::atomic<uint64_t> checkpointFolder; ///< by which hosts check that their folder of checkpoints is that of rank 0
  std::atomic<uint64_t> damaged;          ///< how many of the resumable checkpoints are unusable
  std::atomic<uint64_t> isSpoiled;        ///< the step whose numbers are unusable: nothing after it is saved; 0: none
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
