// Computes the actions of other streams that an action must follow: those that produce its bytes, and those that still
// use them.
//
//   bytes   [ written by 12 | written by 12, read since by 14 (compute) and 15 (send) | ... ]
//
// The program is walked in its order. A reading action follows the last writer; a writing action follows the last
// writer and all readers since. Dependencies that follow from a stream's own order, or from another `after`, are
// omitted: a vector clock per action (Fidge, Mattern 1988) holds the last action of each stream that has ended before
// it.
#include "ActionAccesses.h"
#include "mlir/IR/Threading.h"
#include "xlc/Memory/Memory.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNDEPENDENCIESPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

constexpr size_t kStreams = exec::getMaxEnumValForStream() + 1;
constexpr int64_t kNone = -1;

/// By stream: the number of an action; kNone: there is none.
using Clock = std::array<int64_t, kStreams>;

constexpr Clock kStart = [] {
  Clock clock{};
  clock.fill(kNone);
  return clock;
}();

/// Who wrote bytes last, and who has read them since: of a stream, the last one.
struct Use {
  int64_t writer = kNone;
  Clock readers = kStart;
};

/// The use of every byte of the arena, as disjoint ranges.
class Uses {
public:
  /// Visits the use of each of the bytes; those that nobody has used have none.
  template <class Visit> void forEach(ByteRange bytes, Visit visit) {
    for (auto it = split(bytes); it != ranges.end() && it->first < bytes.end; ++it)
      visit(it->second.use);
  }

  void write(ByteRange bytes, int64_t action) {
    auto begin = split(bytes), end = begin;
    while (end != ranges.end() && end->first < bytes.end)
      ++end;
    ranges.emplace_hint(ranges.erase(begin, end), bytes.begin, Range{bytes.end, {action, kStart}});
  }

  void read(ByteRange bytes, int64_t action, exec::Stream stream) {
    auto it = split(bytes);
    for (int64_t at = bytes.begin; at < bytes.end; ++it) { // and what nobody has written or read yet
      if (it == ranges.end() || it->first > at)
        it = ranges.emplace_hint(it, at, Range{it == ranges.end() ? bytes.end : std::min(bytes.end, it->first), {}});
      it->second.use.readers[size_t(stream)] = action;
      at = it->second.end;
    }
  }

private:
  struct Range {
    int64_t end;
    Use use;
  };
  using Ranges = std::map<int64_t, Range>;

  /// Cuts ranges at both ends of the bytes. The first that lies in them or behind.
  Ranges::iterator split(ByteRange bytes) {
    cutAt(bytes.end);
    return cutAt(bytes.begin);
  }

  /// The first range that begins at an address or behind it, where none goes on from before.
  Ranges::iterator cutAt(int64_t address) {
    auto it = ranges.lower_bound(address);
    if (it == ranges.begin() || std::prev(it)->second.end <= address)
      return it;
    Range &before = std::prev(it)->second;
    it = ranges.emplace_hint(it, address, before);
    before.end = address;
    return it;
  }

  Ranges ranges; ///< by begin
};

class Dependencies {
public:
  explicit Dependencies(exec::ProgramOp program) : accesses(program) {}

  void assign(exec::ProgramOp program) {
    SmallVector<exec::Action> actions(program.getBody().front().getOps<exec::Action>());
    for (exec::Action action : actions)
      streams.push_back(action.getStream());
    if (llvm::all_equal(streams))
      return;
    for (exec::Action action : actions)
      if (action.getStream() != exec::Stream::compute)
        accesses.forEach(action, [&](ByteRange bytes, bool) { besideCompute.add(bytes); });
    for (exec::Action action : actions)
      visit(action);
  }

private:
  void visit(exec::Action action) {
    exec::Stream stream = action.getStream();
    auto number = int64_t(ended.size());
    SmallVector<std::pair<ByteRange, bool>> touched;
    accesses.forEach(action, [&](ByteRange bytes, bool writes) {
      if (!bytes.isEmpty() && (stream != exec::Stream::compute || besideCompute.meets(bytes)))
        touched.emplace_back(bytes, writes);
    });
    SmallVector<int64_t> needs;
    for (auto [bytes, writes] : touched)
      uses.forEach(bytes, [&, writes = writes](const Use &use) {
        needs.push_back(use.writer);
        if (writes)
          needs.append(use.readers.begin(), use.readers.end());
      });
    Clock &clock = last[size_t(stream)];
    action.setAfter(leaveOutImplied(needs, clock));
    clock[size_t(stream)] = number;
    ended.push_back(clock);
    for (auto [bytes, writes] : touched)
      writes ? uses.write(bytes, number) : uses.read(bytes, number, stream);
  }

  /// Of actions, those that `clock` does not say to have ended, nor one of the others; then it says it of all.
  SmallVector<int64_t> leaveOutImplied(SmallVectorImpl<int64_t> &actions, Clock &clock) {
    llvm::sort(actions, std::greater<>());
    SmallVector<int64_t> left;
    for (int64_t action : actions) {
      if (action == kNone || clock[size_t(streams[action])] >= action)
        continue;
      left.push_back(action);
      for (auto [known, more] : llvm::zip_equal(clock, ended[action]))
        known = std::max(known, more);
    }
    std::reverse(left.begin(), left.end());
    return left;
  }

  ActionAccesses accesses;
  SmallVector<exec::Stream> streams; ///< of each action
  ByteSet besideCompute;             ///< what only computations touch needs no order but theirs
  Uses uses;
  std::array<Clock, kStreams> last = [] {
    std::array<Clock, kStreams> clocks;
    clocks.fill(kStart);
    return clocks;
  }();
  std::vector<Clock> ended; ///< of each action: what has ended when it has
};

struct AssignDependenciesPass : xlc::impl::AssignDependenciesPassBase<AssignDependenciesPass> {
  void runOnOperation() override {
    SmallVector<exec::ProgramOp> programs(getOperation().getOps<exec::ProgramOp>());
    parallelForEach(&getContext(), programs, [](exec::ProgramOp program) { Dependencies(program).assign(program); });
  }
};

} // namespace
