// Reads each function once, for the first and last call that touches each of its slots; a run then adds its start to
// these.
#include "xlc/Memory/Lifetimes.h"

using namespace mlir;
using namespace xlc;

namespace {

/// First and last call or collective of a function that touches each of its slots; -1 where none does.
struct SlotUse {
  int64_t calls = 0;
  SmallVector<int64_t> first, last;
};

SlotUse findSlotUse(func::FuncOp function) {
  SlotUse use;
  use.first.assign(function.getNumArguments(), -1);
  use.last.assign(function.getNumArguments(), -1);
  for (Operation &call : function.front()) {
    if (!call.hasTrait<exec::Inner>())
      continue;
    for (Value operand : call.getOperands()) {
      if (auto view = operand.getDefiningOp<exec::ViewOp>())
        operand = view.getSlot();
      unsigned slot = cast<BlockArgument>(operand).getArgNumber();
      if (use.first[slot] < 0)
        use.first[slot] = use.calls;
      use.last[slot] = use.calls;
    }
    ++use.calls;
  }
  return use;
}

class Finder {
public:
  Finder(exec::ProgramOp program, std::optional<exec::Stream> ignored)
      : symbols(program->getParentOfType<ModuleOp>()), ignored(ignored) {}

  Lifetimes find(exec::ProgramOp program, int64_t alignment) {
    for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
      lifetimes.buffers.push_back({buffer.getSize(), -1, -1, alignment});
    for (Operation &op : program.getBody().front())
      if (isa<exec::Action>(op))
        visit(op);
    for (auto [number, action] : llvm::enumerate(program.getBody().front().getOps<exec::Action>()))
      widen(action, int64_t(number));
    for (auto [interval, buffer] : llvm::zip(lifetimes.buffers, program.getBody().front().getOps<exec::BufferOp>()))
      if (buffer.getPersistent() || interval.first < 0) {
        interval.first = 0;
        interval.last = buffer.getPersistent() ? std::max(0, (int)lifetimes.moments - 1) : 0;
      }
    return std::move(lifetimes);
  }

private:
  void touch(int64_t buffer, int64_t first, int64_t last) {
    Interval &interval = lifetimes.buffers[buffer];
    interval.first = interval.first < 0 ? (int)first : std::min(interval.first, (int)first);
    interval.last = std::max(interval.last, (int)last);
  }

  void visit(Operation &op) {
    int64_t &moment = lifetimes.moments;
    lifetimes.starts.push_back(moment);
    auto run = dyn_cast<exec::RunOp>(op);
    if (!run) {
      if (auto action = dyn_cast<exec::Action>(op))
        action.forEachPlace([&](exec::PlaceAttr place) { touch(place.getBuffer(), moment, moment); });
      ++moment;
      return;
    }
    auto [it, isNew] = uses.try_emplace(run.getFunction());
    if (isNew)
      it->second = findSlotUse(symbols.lookup<func::FuncOp>(run.getFunction()));
    const SlotUse &use = it->second;
    for (auto [slot, place] : llvm::enumerate(run.getPlaces().getAsRange<exec::PlaceAttr>())) {
      bool isUsed = use.first[slot] >= 0;
      touch(place.getBuffer(), moment + (isUsed ? use.first[slot] : 0), moment + (isUsed ? use.last[slot] : 0));
    }
    moment += std::max<int64_t>(use.calls, 1);
  }

  /// The window of an action: from the begin of one earlier action to the end of a later one.
  void widen(exec::Action action, int64_t number) {
    if ((action.getEarly() == 0 && action.getLate() == 0) || action.getStream() == ignored)
      return;
    auto actions = int64_t(lifetimes.starts.size());
    int64_t first = lifetimes.starts[std::max<int64_t>(0, number - action.getEarly())],
            next = number + action.getLate() + 1;
    int64_t last = (next < actions ? lifetimes.starts[next] : lifetimes.moments) - 1;
    action.forEachPlace([&](exec::PlaceAttr place) { touch(place.getBuffer(), first, last); });
  }

  SymbolTable symbols;
  const std::optional<exec::Stream> ignored;
  Lifetimes lifetimes;
  llvm::StringMap<SlotUse> uses;
};

} // namespace

Lifetimes xlc::findLifetimes(exec::ProgramOp program, int64_t alignment, std::optional<exec::Stream> ignored) {
  return Finder(program, ignored).find(program, alignment);
}
