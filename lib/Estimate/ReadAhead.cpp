// See ReadAhead.h.
#include "xlc/Estimate/ReadAhead.h"

using namespace mlir;
using namespace xlc;

runtime::ReadAhead xlc::readAheadOf(exec::ProgramOp program, int64_t ranks) {
  SmallVector<exec::BufferOp> buffers(program.getBody().front().getOps<exec::BufferOp>());
  uint64_t loads = 0, largest = 0;
  for (auto load : program.getBody().front().getOps<exec::LoadOp>()) {
    uint64_t bytes = 0;
    for (auto place : load.getPlaces().getAsRange<exec::PlaceAttr>())
      bytes += buffers[place.getBuffer()].getSize();
    ++loads, largest = std::max(largest, bytes);
  }
  return runtime::readAheadOf(loads, largest, uint64_t(ranks));
}
