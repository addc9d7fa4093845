// One rank's memory and what works on it. The executor, the files and `--check` know devices by this interface alone;
// what a new one brings beside it is in Target.h.
#ifndef XLC_LIB_RUNTIME_DEVICE_DEVICE_H
#define XLC_LIB_RUNTIME_DEVICE_DEVICE_H

#include "Fabric/Mover.h"
#include "Plan/Plan.h"
#include "Trace.h"

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Memory of a device. Its addresses are for the device: others read and write there through it.
struct DeviceMemory {
  char *begin = nullptr;
  uint64_t bytes = 0; ///< that were taken for it
};

/// Where memory is to lie so that other processes of this host reach it: part of a file that they map too.
struct SharedPlace {
  int file;
  uint64_t offset;
  char *address; ///< here; whole pages, which are mapped already
};

/// Memory of a device that is none of the arena's, as it is measured.
struct OutsideBytes {
  std::string name;
  uint64_t bytes;
};

/// What a call works on.
struct CallOperands {
  char *const *addresses;    ///< of its ins, then its outs
  const uint8_t *accumulate; ///< per out: 1 where it is added to
  char *workspace;           ///< null: it has none
};

/// Used by the rank's own thread, which makes it; `read` also by others, between steps, and `write` by those that run
/// streams. Each function returns when what it says is done.
class Device : public Mover {
public:
  /// Room for `bytes` bytes at the plan's alignment, for the life of the device. Throws std::bad_alloc.
  virtual DeviceMemory allocate(uint64_t bytes) = 0;
  /// The same at the given address, where processes share it: of targets whose devices are the host's.
  virtual DeviceMemory allocateAt(const SharedPlace &, uint64_t) {
    throw std::logic_error("the memory of this device is not shared");
  }

  /// Makes a call ready, before the first step: nothing is allocated in a step. Throws Rejected where the plan does not
  /// fit this machine.
  virtual void prepare(const plan::CallT &call) = 0;

  /// Runs a call that was prepared.
  virtual void run(const plan::CallT &call, const CallOperands &operands) = 0;

  /// What is asked for next is a step of the rank's program for this purpose; until the first, of that which trains.
  virtual void beginStep(plan::Purpose /*purpose*/) {}
  /// What is asked for until endAction belongs to this action of the rank's program: a device with streams of its own puts it
  /// on the action's, after what the action comes after.
  virtual void beginAction(uint64_t /*index*/) {}
  virtual void endAction(uint64_t /*index*/) {}
  /// What is asked for next comes after all of this step.
  virtual void endStep() {}

  /// Whether a step can be captured: then it is kept in one of two slots of its purpose, and done by one call, as often
  /// as it is asked for.
  virtual bool captures() const { return false; }
  /// What is asked for until endCapture is kept, and not done.
  virtual void beginCapture(unsigned /*slot*/) {}
  /// Throws DeviceFailure where it cannot be kept.
  virtual void endCapture() {}
  /// After a failure, within a capture or after it: all is as before it.
  virtual void cancelCapture() noexcept {}
  /// What is written until `replay` is what the step in this slot writes, in its order. Waits until the slot's last step has ended.
  virtual void beginReplay(unsigned /*slot*/) {}
  /// All that the step in this slot was asked for; right after its capture, with what was written then.
  virtual void replay(unsigned /*slot*/) {}

  /// No step comes any more: called on the rank's thread.
  virtual void endSteps() {}

  /// Moves bytes on the thread that asks, beside the calls that run meanwhile.
  virtual Mover &besideCalls() = 0;

  /// From and to the memory of the host.
  virtual void write(char *to, const void *from, uint64_t bytes) = 0;
  virtual void read(void *to, const char *from, uint64_t bytes) = 0;

  /// Writes `value` to every byte.
  virtual void fill(char *to, unsigned char value, uint64_t bytes) = 0;

  /// A moment for --profile, on the stream of the action at hand, behind what was asked for: on the clock of now(), or on a
  /// device that runs ahead a number, by which timeOf gives it, once, when the device has come there.
  virtual int64_t mark() { return now(); }
  virtual int64_t timeOf(int64_t mark) { return mark; }

  /// What the program has on the device beside the arena, where that can be measured.
  virtual std::vector<OutsideBytes> measureOutside() { return {}; }

  /// Whether calls may be under way when they have returned: what a step leaves is then best read a step later.
  virtual bool runsAhead() const { return false; }
  /// Reads an f32, as the calls so far leave it, into one of a few slots; finishRead waits for it, and gives it.
  virtual void beginRead(unsigned slot, const char *from) { read(&readings[slot], from, sizeof(float)); }
  virtual float finishRead(unsigned slot) { return readings[slot]; }
  static constexpr unsigned readingsOfPurpose = 4, readingSlots = readingsOfPurpose * purposes;

private:
  std::array<float, readingSlots> readings{};
};

} // namespace xlc::runtime

#endif
