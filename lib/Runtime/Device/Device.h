// The interface of a device: the memory of one rank and the operations on it. The executor, the files and `--check` use
// devices only by this interface. Target.h lists the other parts of a new target.
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

/// Memory of a device. Its addresses are valid on the device only; the host reads and writes it through the device.
struct DeviceMemory {
  char *begin = nullptr;
  uint64_t bytes = 0; ///< the number of bytes that were allocated
};

/// A place for memory that other processes of this host can access: part of a file that they map too.
struct SharedPlace {
  int file;
  uint64_t offset;
  char *address; ///< in this process; whole pages, which are already mapped
};

/// Measured memory of a device outside the arena.
struct OutsideBytes {
  std::string name;
  uint64_t bytes;
};

/// The operands of a call.
struct CallOperands {
  char *const *addresses;    ///< of its inputs, then its results
  const uint8_t *accumulate; ///< per result: 1 if the call adds to it
  char *workspace;           ///< null: no workspace
};

/// Created and used by the rank's own thread. Between steps, other threads also call `read`; threads that run streams
/// also call `write`. Each function returns when its operation is complete.
class Device : public Mover {
public:
  /// Allocates `bytes` bytes at the plan's alignment, for the lifetime of the device. Throws std::bad_alloc.
  virtual DeviceMemory allocate(uint64_t bytes) = 0;
  /// The same at the given address, which processes share. Only for targets whose devices are the host's processors.
  virtual DeviceMemory allocateAt(const SharedPlace &, uint64_t) {
    throw std::logic_error("the memory of this device is not shared");
  }

  /// Prepares a call before the first step, because a step must not allocate. Throws Rejected if the plan does not fit
  /// this machine.
  virtual void prepare(const plan::CallT &call) = 0;

  /// Runs a prepared call.
  virtual void run(const plan::CallT &call, const CallOperands &operands) = 0;

  /// The following requests are a step of the rank's program for this purpose. Before the first such call, they belong
  /// to the training program.
  virtual void beginStep(plan::Purpose /*purpose*/) {}
  /// Requests until endAction belong to this action of the rank's program. A device with streams enqueues them on the
  /// stream of the action, after the actions on which it depends.
  virtual void beginAction(uint64_t /*index*/) {}
  virtual void endAction(uint64_t /*index*/) {}
  /// The following requests run after all requests of this step.
  virtual void endStep() {}

  /// Whether a step can be captured. A captured step is stored in one of two slots of its purpose, and one call runs
  /// it, any number of times.
  virtual bool captures() const { return false; }
  /// Requests until endCapture are stored and not executed.
  virtual void beginCapture(unsigned /*slot*/) {}
  /// Throws DeviceFailure if the step cannot be stored.
  virtual void endCapture() {}
  /// Call after a failure during or after a capture: restores the state before it.
  virtual void cancelCapture() noexcept {}
  /// Writes until `replay` are those of the step in this slot, in its order. Waits until the slot's previous step has
  /// ended.
  virtual void beginReplay(unsigned /*slot*/) {}
  /// Runs all requests of the step in this slot. Right after its capture, uses the data written during the capture.
  virtual void replay(unsigned /*slot*/) {}

  /// Called after the last step, on the rank's thread.
  virtual void endSteps() {}

  /// A mover that runs on the calling thread, concurrently with the device's calls.
  virtual Mover &besideCalls() = 0;

  /// Copy from and to host memory.
  virtual void write(char *to, const void *from, uint64_t bytes) = 0;
  virtual void read(void *to, const char *from, uint64_t bytes) = 0;

  /// Writes `value` to every byte.
  virtual void fill(char *to, unsigned char value, uint64_t bytes) = 0;

  /// A timestamp for --profile, on the stream of the current action, after its requests so far. It is a time of the
  /// clock of now(). On a device that runs ahead it is a number instead, which timeOf converts to a time, once, when
  /// the device has reached that point.
  virtual int64_t mark() { return now(); }
  virtual int64_t timeOf(int64_t mark) { return mark; }

  /// The program's device memory outside the arena, if it can be measured.
  virtual std::vector<OutsideBytes> measureOutside() { return {}; }

  /// Whether functions may return before their operations have ended. Results of a step are then best read one step
  /// later.
  virtual bool runsAhead() const { return false; }
  /// Reads an f32, as left by the calls so far, into one of a few slots. finishRead waits for it and returns it.
  virtual void beginRead(unsigned slot, const char *from) { read(&readings[slot], from, sizeof(float)); }
  virtual float finishRead(unsigned slot) { return readings[slot]; }
  static constexpr unsigned readingsOfPurpose = 4, readingSlots = readingsOfPurpose * purposes;

private:
  std::array<float, readingSlots> readings{};
};

} // namespace xlc::runtime

#endif
