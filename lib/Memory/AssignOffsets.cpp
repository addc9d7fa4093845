// Lifetimes in calls, then placement. Time is counted in moments: an action that runs a function of n calls takes n of
// them, any other action takes one.
//
//   moment   0      1      2..6 (layer[0] F)      7..11 (layer[1] F) ...
//
// Within a run, a temporary lives from the call that writes it to the one that reads it last; so do arguments
// that nobody needs afterwards and results, which is what lets residuals make room for gradients.
#include "xlc/Memory/Memory.h"
#include "xlc/Memory/Placement.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNOFFSETSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

constexpr int64_t kAlignment = 64;

/// First and last call of a function that touches each of its slots; -1 where none does.
struct SlotUse {
  int64_t calls = 0;
  SmallVector<int64_t> first, last;
};

SlotUse findSlotUse(func::FuncOp function) {
  SlotUse use;
  use.first.assign(function.getNumArguments(), -1);
  use.last.assign(function.getNumArguments(), -1);
  for (auto call : function.front().getOps<exec::CallOp>()) {
    for (Value operand : call->getOperands()) {
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

class Lifetimes {
public:
  explicit Lifetimes(exec::ProgramOp program) : module(program->getParentOfType<ModuleOp>()) {
    for (auto buffer : program.getBody().front().getOps<exec::BufferOp>()) {
      intervals.push_back({(int64_t)buffer.getSize(), -1, -1, kAlignment});
      isPersistent.push_back(buffer.getPersistent());
    }
    for (Operation &op : program.getBody().front())
      if (!isa<exec::BufferOp>(op))
        visit(op);
    for (auto [interval, persistent] : llvm::zip(intervals, isPersistent)) {
      if (persistent || interval.first < 0)
        interval.first = 0, interval.last = persistent ? (int)moment - 1 : 0;
    }
  }

  ArrayRef<Interval> get() const { return intervals; }

private:
  void touch(int64_t buffer, int64_t first, int64_t last) {
    Interval &interval = intervals[buffer];
    interval.first = interval.first < 0 ? (int)first : std::min(interval.first, (int)first);
    interval.last = std::max(interval.last, (int)last);
  }

  void visit(Operation &op) {
    auto run = dyn_cast<exec::RunOp>(op);
    if (!run) {
      op.getAttrDictionary().walk([&](exec::PlaceAttr place) { touch(place.getBuffer(), moment, moment); });
      ++moment;
      return;
    }
    auto [it, isNew] = uses.try_emplace(run.getFunction());
    if (isNew)
      it->second = findSlotUse(module.lookupSymbol<func::FuncOp>(run.getFunction()));
    const SlotUse &use = it->second;
    for (auto [slot, place] : llvm::enumerate(run.getPlaces().getAsRange<exec::PlaceAttr>())) {
      bool isUsed = use.first[slot] >= 0;
      touch(place.getBuffer(), moment + (isUsed ? use.first[slot] : 0), moment + (isUsed ? use.last[slot] : 0));
    }
    moment += std::max<int64_t>(use.calls, 1);
  }

  ModuleOp module;
  int64_t moment = 0;
  std::vector<Interval> intervals;
  SmallVector<bool> isPersistent;
  llvm::StringMap<SlotUse> uses;
};

struct AssignOffsetsPass : xlc::impl::AssignOffsetsPassBase<AssignOffsetsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<exec::ProgramOp>()) {
      Lifetimes lifetimes(program);
      Placement placement = placeIntervals(lifetimes.get());
      for (auto [buffer, offset] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), placement.offsets))
        buffer.setOffset(offset);
      program.setArena(llvm::alignTo(placement.height, kAlignment));
      program.setLowerBound(lowerBound(lifetimes.get()));
    }
  }
};

} // namespace
