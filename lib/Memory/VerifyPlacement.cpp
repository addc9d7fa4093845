// The gate of Memory, by replay instead of lifetimes: who wrote these bytes last?
//
//   owner   [ bucket_0 ........ | layer[0] F/qkv ....... | ? ]      a map from address ranges to buffers
//
// Writing to a buffer makes all its bytes its own; reading demands that they still are. A buffer placed
// over another that is still needed is found at the first read after the damage.
#include "xlc/Memory/Memory.h"
#include <map>

namespace xlc {
#define GEN_PASS_DEF_VERIFYPLACEMENTPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

class Replay {
public:
  explicit Replay(exec::ProgramOp program) : program(program) {
    for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
      buffers.push_back(buffer);
  }

  LogicalResult run() {
    for (exec::BufferOp buffer : buffers) {
      if ((int64_t)buffer.getOffset() < 0 ||
          (int64_t)(buffer.getOffset() + buffer.getSize()) > (int64_t)program.getArena())
        return buffer.emitOpError() << "'" << buffer.getName() << "' ends at byte "
                                    << buffer.getOffset() + buffer.getSize() << " of an arena of "
                                    << program.getArena();
      if (buffer.getPersistent()) {
        if (int64_t other = ownerOf(buffer); other >= 0)
          return overlap(buffer, buffer, other);
        write(buffer);
      }
    }
    for (Operation &op : program.getBody().front())
      if (failed(replay(op)))
        return failure();
    for (exec::BufferOp buffer : buffers)
      if (buffer.getPersistent() && failed(read(program, buffer)))
        return failure();
    return success();
  }

private:
  LogicalResult replay(Operation &op) {
    if (auto load = dyn_cast<exec::LoadOp>(op))
      return writeAll(load.getPlaces());
    if (auto begin = dyn_cast<exec::BeginOp>(op))
      return writeAll(begin.getPlaces());
    if (auto run = dyn_cast<exec::RunOp>(op))
      return replayRun(run);
    if (auto gather = dyn_cast<exec::AllGatherOp>(op))
      return move(op, gather.getSrc(), gather.getDst(), /*adds=*/false);
    if (auto reduce = dyn_cast<exec::ReduceScatterOp>(op))
      return move(op, reduce.getSrc(), reduce.getDst(), reduce.getAccumulate());
    if (auto reduce = dyn_cast<exec::AllReduceOp>(op))
      return move(op, reduce.getPlace(), reduce.getPlace(), /*adds=*/false);
    if (auto send = dyn_cast<exec::SendOp>(op))
      return read(&op, buffers[send.getPlace().getBuffer()]);
    if (auto receive = dyn_cast<exec::ReceiveOp>(op))
      write(buffers[receive.getPlace().getBuffer()]);
    return success();
  }

  LogicalResult writeAll(ArrayAttr places) {
    for (auto place : places.getAsRange<exec::PlaceAttr>())
      write(buffers[place.getBuffer()]);
    return success();
  }

  LogicalResult move(Operation &op, exec::PlaceAttr from, exec::PlaceAttr to, bool adds) {
    if (failed(read(&op, buffers[from.getBuffer()])) || (adds && failed(read(&op, buffers[to.getBuffer()]))))
      return failure();
    write(buffers[to.getBuffer()]);
    return success();
  }

  LogicalResult replayRun(exec::RunOp run) {
    auto function = program->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(run.getFunction());
    auto bufferOf = [&](Value operand) {
      if (auto view = operand.getDefiningOp<exec::ViewOp>())
        operand = view.getSlot();
      auto place = cast<exec::PlaceAttr>(run.getPlaces()[cast<BlockArgument>(operand).getArgNumber()]);
      return buffers[place.getBuffer()];
    };
    for (Operation &op : function.front()) {
      if (auto collective = dyn_cast<exec::CollectiveOp>(op)) {
        if (failed(read(run, bufferOf(collective.getSrc()))))
          return failure();
        write(bufferOf(collective.getDst()));
      }
      auto call = dyn_cast<exec::CallOp>(op);
      if (!call)
        continue;
      for (Value in : call.getIns())
        if (failed(read(run, bufferOf(in))))
          return failure();
      for (auto [out, accumulate] : llvm::zip(call.getOuts(), call.getAccumulate())) {
        auto mode = (exec::Accumulate)accumulate;
        bool adds = mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !run.getFirst());
        if (adds && failed(read(run, bufferOf(out))))
          return failure();
        write(bufferOf(out));
      }
      if (call.getWorkspace())
        write(bufferOf(call.getWorkspace()));
    }
    return success();
  }

  /// The first buffer other than `buffer` that owns some of its bytes; -1: it owns all, or nobody wrote.
  int64_t ownerOf(exec::BufferOp buffer) {
    int64_t begin = buffer.getOffset(), end = begin + buffer.getSize();
    auto it = owners.upper_bound(begin);
    if (it != owners.begin())
      --it;
    for (; it != owners.end() && it->first < end; ++it)
      if (it->second.end > begin && it->second.buffer != (int64_t)buffer.getId())
        return it->second.buffer;
    return -1;
  }

  LogicalResult read(Operation *action, exec::BufferOp buffer) {
    if (buffer.getSize() == 0)
      return success();
    if (int64_t other = ownerOf(buffer); other >= 0)
      return overlap(action, buffer, other);
    if (!isOwned(buffer))
      return action->emitOpError() << "reads buffer '" << buffer.getName() << "', which nothing has written";
    return success();
  }

  bool isOwned(exec::BufferOp buffer) {
    int64_t begin = buffer.getOffset(), end = begin + buffer.getSize();
    auto it = owners.upper_bound(begin);
    if (it == owners.begin())
      return false;
    for (--it; it != owners.end() && begin < end && it->first <= begin && it->second.end > begin; ++it)
      begin = it->second.end;
    return begin >= end;
  }

  LogicalResult overlap(Operation *action, exec::BufferOp buffer, int64_t other) {
    return action->emitOpError() << "reads buffer '" << buffer.getName() << "', over which '"
                                 << buffers[other].getName() << "' was written while it was live";
  }

  /// Cuts [begin, end) out of the map and gives it to `buffer`.
  void write(exec::BufferOp buffer) {
    int64_t begin = buffer.getOffset(), end = begin + buffer.getSize();
    if (begin == end)
      return;
    auto it = owners.lower_bound(begin);
    if (it != owners.begin()) {
      auto before = std::prev(it);
      Range range = before->second;
      if (range.end > begin) {
        before->second.end = begin;
        if (range.end > end)
          owners[end] = range;
      }
    }
    for (it = owners.lower_bound(begin); it != owners.end() && it->first < end; it = owners.erase(it))
      if (it->second.end > end) {
        Range rest = it->second;
        owners.erase(it);
        owners[end] = rest;
        break;
      }
    owners[begin] = {end, (int64_t)buffer.getId()};
  }

  struct Range {
    int64_t end, buffer;
  };
  exec::ProgramOp program;
  std::vector<exec::BufferOp> buffers;
  std::map<int64_t, Range> owners; ///< by begin; disjoint
};

struct VerifyPlacementPass : xlc::impl::VerifyPlacementPassBase<VerifyPlacementPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (failed(Replay(program).run()))
        return signalPassFailure();
  }
};

} // namespace
