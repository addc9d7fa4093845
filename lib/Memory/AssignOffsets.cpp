// Lifetimes, then placement. Persistent buffers lie at the bottom.
//
// Programs of one stage and several purposes run alternately in one arena. Each is placed above the persistent buffers
// of all of them, which have the same offsets in each, and the arena is the largest size that any of them needs:
//
//     train      | parameters | states | scalars | tp index | gradients, residuals ...    |
//     evaluate   | parameters | states | scalars | tp index | workspace ... |
#include "mlir/IR/Threading.h"
#include "xlc/Memory/Lifetimes.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Memory/Placement.h"
#include "llvm/ADT/MapVector.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNOFFSETSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

int64_t arenaOf(const Placement &placement, int64_t alignment) {
  bool isPlaced = placement.height <= kLargestArena - alignment;
  return isPlaced ? llvm::alignTo(placement.height, alignment) : Placement::none;
}

struct AssignOffsetsPass : xlc::impl::AssignOffsetsPassBase<AssignOffsetsPass> {
  using AssignOffsetsPassBase::AssignOffsetsPassBase;

  void runOnOperation() override {
    llvm::MapVector<int64_t, SmallVector<exec::ProgramOp, 2>> stages;
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      stages[program.getStage()].push_back(program);
    SmallVector<SmallVector<exec::ProgramOp, 2>> programs;
    for (auto &[stage, own] : stages)
      programs.push_back(std::move(own));
    parallelForEach(&getContext(), programs, [&](ArrayRef<exec::ProgramOp> ofStage) {
      ofStage.size() == 1 ? assignOffsets(ofStage.front(), alignment) : assignTogether(ofStage);
    });
  }

private:
  /// The same, of all purposes of a stage.
  void assignTogether(ArrayRef<exec::ProgramOp> programs) {
    llvm::MapVector<StringRef, int64_t> sizes; // of persistent buffers, by name
    for (exec::ProgramOp program : programs)
      for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
        if (buffer.getPersistent())
          sizes.try_emplace(buffer.getName(), buffer.getSize());
    int64_t arena = 0;
    for (exec::ProgramOp program : programs)
      arena = std::max(arena, assignAbove(sizes, program));
    for (exec::ProgramOp program : programs)
      program.setArena(arena);
  }

  /// Returns the bytes that the program needs.
  int64_t assignAbove(const llvm::MapVector<StringRef, int64_t> &persistent, exec::ProgramOp program) {
    Lifetimes lifetimes = findLifetimes(program, alignment);
    std::vector<Interval> intervals;
    SmallVector<exec::BufferOp> buffers; // null: that of another purpose
    int last = std::max(0, (int)lifetimes.moments - 1);
    for (auto [name, size] : persistent)
      intervals.push_back({size, 0, last, alignment}), buffers.push_back({});
    for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers))
      if (const auto *known = buffer.getPersistent() ? persistent.find(buffer.getName()) : persistent.end();
          known != persistent.end())
        buffers[known - persistent.begin()] = buffer;
      else
        intervals.push_back(interval), buffers.push_back(buffer);
    Placement placement = placeIntervals(intervals);
    for (auto [buffer, offset] : llvm::zip(buffers, placement.offsets))
      if (buffer)
        buffer.setOffset(offset);
    program.setLowerBound(lowerBound(intervals).clamp());
    return arenaOf(placement, alignment);
  }
};

} // namespace

void xlc::assignOffsets(exec::ProgramOp program, int64_t alignment, int64_t enough) {
  Lifetimes lifetimes = findLifetimes(program, alignment);
  Placement placement = placeIntervals(lifetimes.buffers, {.enough = enough});
  for (auto [buffer, offset] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), placement.offsets))
    buffer.setOffset(offset);
  program.setArena(arenaOf(placement, alignment));
  program.setLowerBound(lowerBound(lifetimes.buffers).clamp());
}
