// Lifetimes, then placement. Persistent buffers lie at the bottom.
#include "mlir/IR/Threading.h"
#include "xlc/Memory/Lifetimes.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Memory/Placement.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNOFFSETSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

struct AssignOffsetsPass : xlc::impl::AssignOffsetsPassBase<AssignOffsetsPass> {
  using AssignOffsetsPassBase::AssignOffsetsPassBase;

  void runOnOperation() override {
    SmallVector<exec::ProgramOp> programs(getOperation().getOps<exec::ProgramOp>());
    parallelForEach(&getContext(), programs, [&](exec::ProgramOp program) { assignOffsets(program, alignment); });
  }
};

} // namespace

void xlc::assignOffsets(exec::ProgramOp program, int64_t alignment, int64_t enough) {
  Lifetimes lifetimes = findLifetimes(program, alignment);
  Placement placement = placeIntervals(lifetimes.buffers, {.enough = enough});
  for (auto [buffer, offset] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), placement.offsets))
    buffer.setOffset(offset);
  bool isPlaced = placement.height <= kLargestArena - alignment;
  program.setArena(isPlaced ? llvm::alignTo(placement.height, alignment) : Placement::none);
  program.setLowerBound(lowerBound(lifetimes.buffers).clamp());
}
