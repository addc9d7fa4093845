// The simulated devices behind the simulated libraries. It is part of libcuda.so.1; the others (libcublasLt) are linked with
// that and put their work into its queues. An address of the device is an address of this process.
//
// What goes wrong in the use of the device (a race, bytes that nobody wrote, a call that the real library refuses to define)
// ends the process with exit 70 and one line that begins with "simulated device: ".
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

/// What work waits for beside those before it in its queue: other ranks, whose work is in other queues or processes.
class Meeting {
public:
  virtual ~Meeting() = default;
  virtual bool isOver() = 0;
  /// A host waits for it, or for what comes after it: those who have not come are to go on. Ends the process where they do not,
  /// however long one waits.
  virtual void ask(TimePoint when) = 0;
};

/// What a queue runs some time after the call that asked for it. Once it has run, bytes that it wrote count as written.
struct Work {
  std::string name; ///< for messages: "cublasLtMatmul 128 x 64 x 32"
  std::vector<Span> reads, writes;
  std::function<void()> run;
  std::shared_ptr<Meeting> meeting = nullptr; ///< null: nobody
};

/// Appends to the queue of `stream`, a CUstream; null is the default stream.
XLC_SIMULATED void enqueue(void *stream, Work work);

/// What a stream is given, made when it comes into the queue: of a stream that is captured, at each launch of its graph.
using MakeWork = std::function<std::vector<Work>()>;
XLC_SIMULATED void enqueueMade(void *stream, MakeWork make);

/// A thread of this process looks, many times in a millisecond, when others asked last for its devices, which then go on by themselves.
XLC_SIMULATED void goOnWhere(std::function<TimePoint()> lastAsked);

/// What another library has in the context of the thread's device, until it is given back: a context that goes before is an error.
/// `what`: in the plural, for the message.
XLC_SIMULATED std::shared_ptr<void> holdContext(const char *what);

/// Memory of the thread's device that another library lets others map, until it is given back: memory that is unmapped before is an
/// error. Null where nobody else can map it, or not all is mapped.
XLC_SIMULATED std::shared_ptr<void> holdMemory(const void *begin, uint64_t bytes);

/// The number of the device whose context the thread works in.
XLC_SIMULATED int deviceOfThread();
/// Whether all comes as late as it may (XLC_SIMULATE_ORDER).
XLC_SIMULATED bool comesLate();

/// How long one may wait for others, in seconds: XLC_SIMULATE_PATIENCE (60).
XLC_SIMULATED double patience();

/// Whether this call of a library is one that is to fail (XLC_SIMULATE_FAIL). Every function asks at its begin, and then returns
/// an error.
XLC_SIMULATED bool isToFail(const char *function);

/// Ends the process: the program used the device wrongly.
[[noreturn]] XLC_SIMULATED void endWith(const std::string &what);

} // namespace xlc::simulate

#endif
