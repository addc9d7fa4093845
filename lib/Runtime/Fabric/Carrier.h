// A wire whose ranks are processes on several hosts, and the communication between these processes other than messages:
// introductions before the start, notes during the run, and the end.
#ifndef XLC_LIB_RUNTIME_FABRIC_CARRIER_H
#define XLC_LIB_RUNTIME_FABRIC_CARRIER_H

#include "Wire.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The largest size of a note.
constexpr uint64_t mostNoteBytes = 10 << 10;

class Carrier : public Wire {
public:
  /// Called on the carrier's thread.
  struct Listener {
    std::function<void(int from, uint32_t kind, std::span<const char> bytes)> hear;
    std::function<void()> tick; ///< called every few hundredths of a second
    /// A rank, or every rank, is unreachable: messages to it will never end.
    std::function<void(const std::string &why)> fail;
  };

  /// Whether all processes of the job have connected within this time. Throws Rejected or NotStarted if the start has
  /// failed.
  virtual bool waitForStart(std::chrono::milliseconds most) = 0;
  /// Until `gather` has returned: the missing ranks or the reason, as far as known; or nothing.
  virtual std::string describeAbsence() { return ""; }
  /// Also until then: a remark for the user while processes connect, returned once; or nothing.
  virtual std::string takeRemark() { return ""; }
  /// The number of ranks.
  virtual int size() const = 0;
  /// Gathers the bytes of all ranks, by rank; each contributes the same number. Call before `listen`. During the wait
  /// it calls `look` every few hundredths of a second. An exception of `look` ends the wait, and the carrier can then
  /// only be abandoned. Throws Rejected if a process has ended, NotStarted if one behaves as no rank should.
  virtual std::vector<char> gather(std::span<const char> own, const std::function<void()> &look) = 0;
  /// Sets the listener of notes. Notes that arrived earlier are delivered to it first.
  virtual void listen(Listener listener) = 0;

  /// The handling of a note while one of the same kind to the same rank is in flight: it follows, or is dropped.
  enum class Behind { Follows, IsLeftOut };
  /// Sends a note to another rank.
  virtual void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) = 0;
  /// Whether all notes have been sent within this time.
  virtual bool waitForNotes(std::chrono::milliseconds most) = 0;
  /// Stops all sending and receiving: processes that end afterwards are not reported as missing.
  virtual void abandon() = 0;
  /// Shuts down together with all other ranks.
  virtual void finish() = 0;
};

} // namespace xlc::runtime

#endif
