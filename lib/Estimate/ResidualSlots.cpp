// See ResidualSlots.h. The runtime performs the same count while it runs (lib/Runtime/Plan/ResidualSlots.cpp).
#include "xlc/Estimate/ResidualSlots.h"

using namespace mlir;
using namespace xlc;

/// The last action that reads a residual that `run`, action number `time`, writes; -1 where it writes none.
static int64_t findLastRead(exec::RunOp run, int64_t time, ArrayRef<exec::BufferOp> buffers) {
  int64_t last = -1;
  for (auto place : run.getPlaces().getAsRange<exec::PlaceAttr>()) {
    assert(place.getBuffer() < int64_t(buffers.size()) && "the gate of Memory has looked at places");
    exec::BufferOp buffer = buffers[place.getBuffer()];
    bool isNew = buffer.getFirst() == time && buffer.getLast() > buffer.getFirst();
    if (isNew && buffer.getCause() == exec::Cause::residuals)
      last = std::max<int64_t>(last, buffer.getLast());
  }
  return last;
}

int64_t xlc::countResidualSlots(exec::ProgramOp program) {
  Block &body = program.getBody().front();
  SmallVector<exec::BufferOp> buffers(body.getOps<exec::BufferOp>());
  DenseMap<int64_t, size_t> filling; // micro-batch -> slot; looked up only
  SmallVector<int64_t> ends;         // by slot
  int64_t time = -1, most = 0;
  for (Operation &action : body) {
    if (!isa<exec::Action>(action))
      continue;
    ++time;
    if (isa<exec::Transfer>(action))
      filling.clear();
    auto run = dyn_cast<exec::RunOp>(action);
    if (!run || run.getRole() != graph::Role::F)
      continue;
    int64_t last = findLastRead(run, time, buffers);
    if (last < 0)
      continue;
    auto [it, isNew] = filling.try_emplace(run.getMicroBatch(), ends.size());
    if (isNew)
      ends.push_back(last);
    ends[it->second] = std::max(ends[it->second], last);
    most = std::max<int64_t>(most, llvm::count_if(ends, [&](int64_t end) { return end >= time; }));
  }
  return most;
}
