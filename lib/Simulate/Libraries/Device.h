// The simulated devices behind the simulated libraries. They are part of libcuda.so.1; the others (libcublasLt) are
// linked with that and put their work into its queues. An address of the device is an address of this process.
//
// An incorrect use of the device (a race, a read of unwritten bytes, a call whose result the real library leaves
// undefined) ends the process with exit 70 and one line that begins with "simulated device: ".
#ifndef XLC_LIB_SIMULATE_LIBRARIES_DEVICE_H
#define XLC_LIB_SIMULATE_LIBRARIES_DEVICE_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#define XLC_SIMULATED __attribute__((visibility("default")))

namespace xlc::simulate {

/// Bytes that a piece of work reads or writes. Gaps between the rows of a matrix are not touched: one span for each row.
struct Span {
  const void *begin;
  uint64_t bytes;
};

/// When a host that waits has asked for others. All processes of a machine have the same clock.
using TimePoint = std::chrono::steady_clock::time_point;

/// The condition of work beside its predecessors in its queue: other ranks, whose work is in other queues or processes.
class Meeting {
public:
  virtual ~Meeting() = default;
  virtual bool isOver() = 0;
  /// A host waits for it, or for later work: the missing ranks must proceed. Ends the process if they do not, however
  /// long it waits.
  virtual void ask(TimePoint when) = 0;
};

/// Work that a queue runs some time after the call that requested it. Once it has run, the bytes that it wrote count as
/// written.
struct Work {
  std::string name; ///< for messages: "cublasLtMatmul 128 x 64 x 32"
  std::vector<Span> reads, writes;
  std::function<void()> run;
  std::shared_ptr<Meeting> meeting = nullptr; ///< null: nobody
};

/// Appends to the queue of `stream`, a CUstream; null is the default stream.
XLC_SIMULATED void enqueue(void *stream, Work work);

/// The work of a stream, created when it enters the queue: for a captured stream, at each launch of its graph.
using MakeWork = std::function<std::vector<Work>()>;
XLC_SIMULATED void enqueueMade(void *stream, MakeWork make);

/// A thread of this process polls, many times in a millisecond, for the last request of others to its devices, which
/// then proceed without the host.
XLC_SIMULATED void goOnWhere(std::function<TimePoint()> lastAsked);

/// The resources of another library in the context of the thread's device, until they are released: destroying the
/// context earlier is an error. `what`: in the plural, for the message.
XLC_SIMULATED std::shared_ptr<void> holdContext(const char *what);

/// Memory of the thread's device that another library lets others map, until it is released: unmapping it earlier is an
/// error. Null if nobody else can map it, or not all of it is mapped.
XLC_SIMULATED std::shared_ptr<void> holdMemory(const void *begin, uint64_t bytes);

/// The number of the device in whose context the thread works.
XLC_SIMULATED int deviceOfThread();
/// Whether all work runs as late as possible (XLC_SIMULATE_ORDER).
XLC_SIMULATED bool comesLate();

/// The time limit of a wait for others, in seconds: XLC_SIMULATE_PATIENCE (60).
XLC_SIMULATED double patience();

/// Whether this call of a library must fail (XLC_SIMULATE_FAIL). Every function calls this first, and returns an error
/// if so.
XLC_SIMULATED bool isToFail(const char *function);

/// Ends the process: the program used the device wrongly.
[[noreturn]] XLC_SIMULATED void endWith(const std::string &what);

} // namespace xlc::simulate

#endif
