// See SharedBuffers.h. It shares no code with AssignOffsets, whose result it checks.
#include "SharedBuffers.h"
#include <map>

using namespace mlir;
using namespace xlc;

/// Buffers of `other` against those that `one` keeps.
static LogicalResult verifyPair(exec::ProgramOp one, exec::ProgramOp other) {
  if (one.getArena() != other.getArena())
    return other.emitOpError() << "has an arena of " << other.getArena() << " bytes, but @" << one.getSymName()
                               << " of the same stage has " << one.getArena();
  std::map<int64_t, exec::BufferOp> kept; // by begin; those of one program are disjoint
  for (auto buffer : one.getBody().front().getOps<exec::BufferOp>())
    if (buffer.getPersistent() && buffer.getSize() > 0)
      kept[buffer.getOffset()] = buffer;
  for (auto buffer : other.getBody().front().getOps<exec::BufferOp>()) {
    auto next = kept.lower_bound(buffer.getOffset() + buffer.getSize());
    if (buffer.getSize() == 0 || next == kept.begin())
      continue;
    exec::BufferOp held = std::prev(next)->second;
    bool isSame = buffer.getPersistent() && buffer.getName() == held.getName() &&
                  buffer.getOffset() == held.getOffset() && buffer.getSize() == held.getSize();
    if (!isSame && held.getOffset() + held.getSize() > buffer.getOffset())
      return buffer.emitOpError() << "'" << buffer.getName() << "' overlaps memory in which @" << one.getSymName()
                                  << " keeps '" << held.getName() << "' between steps";
  }
  return success();
}

LogicalResult xlc::verifySharedBuffers(ArrayRef<exec::ProgramOp> programs) {
  for (exec::ProgramOp one : programs)
    for (exec::ProgramOp other : programs)
      if (one.getPurpose() != other.getPurpose() && one.getStage() == other.getStage() &&
          failed(verifyPair(one, other)))
        return failure();
  return success();
}
