// A wire whose ranks are processes on several hosts, and what such processes tell each other beside messages: who they are before they
// begin, notes while they work, and that they end.
#ifndef XLC_LIB_RUNTIME_FABRIC_CARRIER_H
#define XLC_LIB_RUNTIME_FABRIC_CARRIER_H

#include "Wire.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Of a note.
constexpr uint64_t mostNoteBytes = 10 << 10;

class Carrier : public Wire {
public:
  /// Called on the carrier's thread.
  struct Listener {
    std::function<void(int from, uint32_t kind, std::span<const char> bytes)> hear;
    std::function<void()> tick; ///< every few hundredths of a second
    /// A rank cannot be reached, or nobody: messages with it do not end any more.
    std::function<void(const std::string &why)> fail;
  };

  /// Whether all processes of the job have come, within this time. Throws Rejected or NotStarted where that has failed.
  virtual bool waitForStart(std::chrono::milliseconds most) = 0;
  /// Until `gather` has returned: who is missing, or why, as far as it is known; or nothing.
  virtual std::string describeAbsence() { return ""; }
  /// Until then, too: what a person should be told while all come, once; or nothing.
  virtual std::string takeRemark() { return ""; }
  /// How many ranks there are.
  virtual int size() const = 0;
  /// What all ranks give, by rank; of each as many bytes. Before `listen`. Meanwhile it calls `look` every few hundredths of a second;
  /// what that throws ends the waiting, and the carrier can then only be abandoned. Throws Rejected where a process has gone, NotStarted
  /// where one does what none does.
  virtual std::vector<char> gather(std::span<const char> own, const std::function<void()> &look) = 0;
  /// From now on this listener hears; what came before it hears first.
  virtual void listen(Listener listener) = 0;

  /// What becomes of a note while one of its kind to the same rank is on its way: it follows, or is left out.
  enum class Behind { Follows, IsLeftOut };
  /// Says something to another rank.
  virtual void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) = 0;
  /// Whether all notes have left within this time.
  virtual bool waitForNotes(std::chrono::milliseconds most) = 0;
  /// Says and hears no more: processes that end now are not missed.
  virtual void abandon() = 0;
  /// Ends with all other ranks.
  virtual void finish() = 0;
};

} // namespace xlc::runtime

#endif
