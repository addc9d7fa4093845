// Computes for how long a message has exclusive use of its bytes, so that computations hide it.
//
//   compute   | F0     | F1     | F2     | ...            gather of F2's parameters, as long as F1:
//   gather             |====g2====|                       early 2, so that its buffer is its own from F0's end on
//                ^ fork            ^ place in the list
//
// A message whose bytes are read later (a gather, a receive) gets them earlier; one whose bytes were written before (a
// reduction, a send) keeps them later. The window is long enough for the computations in it to take half as long again
// as the message, together with the other streams' concurrent transfers on the same link. The window costs memory only:
// if the network is slower, computations wait where bytes are reused (AssignDependencies), and nothing else changes.
// Weight gradients that are computed beside other computations keep their bytes likewise, by the runs on `compute`
// alone.
#include "xlc/Memory/Memory.h"

#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNWINDOWSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using exec::Stream;

namespace {

constexpr double kMargin = 1.5;
constexpr size_t kStreams = exec::getMaxEnumValForStream() + 1;

/// An action, and for how long it computes or moves bytes.
struct Timed {
  exec::Action action;
  double seconds = 0;
  Stream stream() const { return exec::Action(action).getStream(); }
  bool computes() const { return exec::computes(stream()); }
};

class Windows {
public:
  Windows(exec::ProgramOp program, Clock &clock) {
    for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
      isPersistent.push_back(buffer.getPersistent());
    for (auto action : program.getBody().front().getOps<exec::Action>()) {
      double seconds = secondsOf(action, clock, program.getStage());
      actions.push_back({action, seconds});
      (actions.back().computes() ? computing : moving[size_t(action.getStream())]) += seconds;
    }
  }

  void assign(bool gathersToo) {
    for (size_t number = 0; number < actions.size(); ++number) {
      Timed &timed = actions[number];
      Stream stream = timed.stream();
      if (stream == Stream::compute || timed.seconds <= 0 || !hasBytesToKeep(timed.action))
        continue;
      double needed = timed.seconds * kMargin * (1 + loadBeside(stream));
      if (stream == Stream::receive || (stream == Stream::gather && gathersToo))
        timed.action.setEarly(countBefore(number, needed));
      if (stream == Stream::reduce || stream == Stream::send || stream == Stream::weights)
        timed.action.setLate(countAfter(number, needed));
    }
  }

private:
  static double secondsOf(exec::Action action, Clock &clock, int64_t stage) {
    return llvm::TypeSwitch<Operation *, double>(action)
        .Case([&](exec::RunOp run) { return clock.ofRun(run).total(); })
        .Case([&](exec::ExchangeOp exchange) { return clock.ofExchange(exchange); })
        .Case<exec::SendOp, exec::ReceiveOp>([&](auto transfer) {
          return clock.ofTransfer(stage, int64_t(transfer.getPeer()), int64_t(transfer.getBytes()));
        })
        .Default(0.0);
  }

  /// Persistent buffers are live throughout.
  bool hasBytesToKeep(exec::Action action) const {
    bool has = false;
    action.forEachPlace([&](exec::PlaceAttr place) { has |= !isPersistent[place.getBuffer()]; });
    return has;
  }

  /// What other streams move while the ranks compute, as a part of that time, at most 1; nothing to one that computes.
  double loadBeside(Stream stream) const {
    double others = 0;
    for (size_t other = 0; other < kStreams && !computes(stream); ++other)
      others += other == size_t(stream) ? 0 : moving[other];
    return computing > 0 ? std::min(1.0, others / computing) : 0;
  }

  /// Actions before one, back to where computations begin that take so many seconds.
  int64_t countBefore(size_t number, double seconds) const {
    size_t first = number;
    for (double computed = 0; first > 0 && computed < seconds;)
      if (const Timed &timed = actions[--first]; timed.computes())
        computed += timed.seconds;
    return int64_t(number - first);
  }

  /// Actions after one, up to where computations end that take so many seconds and run beside it.
  int64_t countAfter(size_t number, double seconds) const {
    size_t last = number;
    for (double computed = 0; last + 1 < actions.size() && computed < seconds;)
      if (const Timed &timed = actions[++last]; timed.computes() && timed.stream() != actions[number].stream())
        computed += timed.seconds;
    return int64_t(last - number);
  }

  std::vector<Timed> actions;
  std::vector<bool> isPersistent;        ///< by buffer
  std::array<double, kStreams> moving{}; ///< seconds, by stream
  double computing = 0;
};

struct AssignWindowsPass : xlc::impl::AssignWindowsPassBase<AssignWindowsPass> {
  using AssignWindowsPassBase::AssignWindowsPassBase;
  AssignWindowsPass(const Device &device, int64_t threads, bool gathers) : given(device) {
    this->threads = threads, this->gathers = gathers;
  }

  void runOnOperation() override {
    const Device *named = findDevice(device);
    if (!given && !named) {
      getOperation().emitError() << "unknown device '" << device << "'";
      return signalPassFailure();
    }
    Clock clock(getOperation(), given ? *given : *named, threads);
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      Windows(program, clock).assign(gathers);
  }

  std::optional<Device> given;
};

} // namespace

std::unique_ptr<Pass> xlc::createAssignWindowsPass(const Device &device, int64_t threads, bool gathers) {
  return std::make_unique<AssignWindowsPass>(device, threads, gathers);
}
