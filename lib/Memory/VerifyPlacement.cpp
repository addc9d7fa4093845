// The gate of Memory, by replay instead of lifetimes: who wrote these bytes last?
//
//   owner   [ bucket_0 ........ | layer[0] F/qkv ....... | ? ]      a map from address ranges to buffers
//
// Writing bytes makes them the buffer's own; reading demands that they still are. A buffer placed over another that
// is still needed is found at the first read after the damage. And a part of a gradient that nothing has read is a
// contribution: who overwrites it instead of adding to it loses it.
#include "CallHazards.h"
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
  Replay(exec::ProgramOp program, const SymbolTable &symbols) : program(program), symbols(symbols) {
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
        if (int64_t other = ownerOf(allOf(buffer)); other >= 0)
          return overlap(buffer, buffer, other);
        write(allOf(buffer));
      }
    }
    for (Operation &op : program.getBody().front())
      if (failed(replay(op)))
        return failure();
    for (exec::BufferOp buffer : buffers)
      if (buffer.getPersistent() && failed(read(program, allOf(buffer))))
        return failure();
    return success();
  }

private:
  /// Bytes of the arena, as a part of one buffer. Where shards differ in their place: those of all of them.
  struct Part {
    exec::BufferOp buffer;
    ByteRange range;
  };

  static Part allOf(exec::BufferOp buffer) {
    int64_t begin = buffer.getOffset();
    return {buffer, {begin, begin + (int64_t)buffer.getSize()}};
  }

  /// `bytes` from a place on. Fails where they leave the buffer on some rank.
  FailureOr<Part> partAt(Operation *action, exec::PlaceAttr place, int64_t bytes) {
    if (place.getBuffer() < 0 || place.getBuffer() >= (int64_t)buffers.size())
      return action->emitOpError() << "names buffer " << place.getBuffer() << " of " << buffers.size();
    Part all = allOf(buffers[place.getBuffer()]);
    int64_t spread = ((int64_t)program.getMesh().getShards() - 1) * place.getStride();
    int64_t begin = place.getOffset() + std::min<int64_t>(spread, 0);
    int64_t end = place.getOffset() + std::max<int64_t>(spread, 0) + bytes, size = all.buffer.getSize();
    if (begin < 0 || end > size)
      return action->emitOpError() << "takes bytes " << begin << " to " << end << " of buffer '" << all.buffer.getName()
                                   << "', which has " << size;
    return Part{all.buffer, {all.range.begin + begin, all.range.begin + end}};
  }

  LogicalResult replay(Operation &op) {
    auto bytesOf = [](auto counted) {
      return (int64_t)counted.getCount() * counted.getType().getIntOrFloatBitWidth() / 8;
    };
    constexpr int64_t groupScalars = 16;
    if (auto load = dyn_cast<exec::LoadOp>(op))
      return writeAll(load, load.getPlaces(), std::nullopt);
    if (auto begin = dyn_cast<exec::BeginOp>(op))
      return writeAll(begin, begin.getPlaces(), groupScalars);
    if (auto run = dyn_cast<exec::RunOp>(op))
      return replayRun(run);
    if (auto gather = dyn_cast<exec::AllGatherOp>(op))
      return move(op, gather.getSrc(), bytesOf(gather), gather.getDst(), bytesOf(gather) * gather.getGroup().size());
    if (auto reduce = dyn_cast<exec::ReduceScatterOp>(op))
      return move(op, reduce.getSrc(), bytesOf(reduce) * reduce.getGroup().size(), reduce.getDst(), bytesOf(reduce),
                  reduce.getAccumulate());
    if (auto reduce = dyn_cast<exec::AllReduceOp>(op))
      return move(op, reduce.getPlace(), bytesOf(reduce), reduce.getPlace(), bytesOf(reduce));
    if (auto send = dyn_cast<exec::SendOp>(op)) {
      FailureOr<Part> part = partAt(&op, send.getPlace(), send.getBytes());
      return failed(part) ? failure() : read(&op, *part);
    }
    if (auto receive = dyn_cast<exec::ReceiveOp>(op))
      return writeAll(receive, ArrayAttr::get(op.getContext(), receive.getPlace()), receive.getBytes());
    if (auto release = dyn_cast<exec::ReleaseOp>(op))
      return LogicalResult(partAt(&op, release.getPlace(), release.getBytes()));
    return success();
  }

  /// Without `bytes`: to the ends of the buffers.
  LogicalResult writeAll(Operation *action, ArrayAttr places, std::optional<int64_t> bytes) {
    for (auto place : places.getAsRange<exec::PlaceAttr>()) {
      FailureOr<Part> part = partAt(action, place, bytes.value_or(0));
      if (failed(part))
        return failure();
      if (!bytes)
        part->range.end = allOf(part->buffer).range.end;
      write(*part);
    }
    return success();
  }

  LogicalResult move(Operation &op, exec::PlaceAttr from, int64_t read, exec::PlaceAttr to, int64_t written,
                     bool adds = false) {
    FailureOr<Part> source = partAt(&op, from, read), target = partAt(&op, to, written);
    if (failed(source) || failed(target) || failed(this->read(&op, *source)) ||
        (adds && failed(this->read(&op, *target))))
      return failure();
    ByteSet &unread = contributions[source->buffer.getId()];
    unread.remove(source->range);
    if (failed(contribute(&op, *target, adds)))
      return failure();
    contributions[target->buffer.getId()].add(target->range);
    write(*target);
    return success();
  }

  /// Fails where a contribution to a gradient is lost. Whether it is one more is for the caller to note.
  LogicalResult contribute(Operation *action, Part part, bool adds) {
    auto it = contributions.find(part.buffer.getId());
    bool isGradient = part.buffer.getCause() == exec::Cause::gradients;
    if (adds || !isGradient || it == contributions.end() || !it->second.meets(part.range))
      return success();
    return action->emitOpError() << "overwrites a part of '" << part.buffer.getName()
                                 << "' that nothing has read since it was written, instead of adding to it";
  }

  LogicalResult replayRun(exec::RunOp run) {
    auto function = symbols.lookup<func::FuncOp>(run.getFunction());
    if (verified.insert(function).second && failed(verifySlots(function)))
      return failure();
    SmallVector<Part> parts;
    SmallVector<ByteRange> slots;
    for (auto [slot, place] : llvm::zip_equal(function.getArguments(), run.getPlaces().getAsRange<exec::PlaceAttr>())) {
      auto type = cast<MemRefType>(slot.getType());
      int64_t bytes = type.getNumElements() * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
      FailureOr<Part> part = partAt(run, place, bytes);
      if (failed(part))
        return failure();
      parts.push_back(*part);
      int64_t begin = buffers[place.getBuffer()].getOffset() + place.getOffset();
      slots.push_back({begin, begin + bytes});
    }
    if (failed(replayCalls(run, function, parts)))
      return failure();
    return verifyHazards(run, function, symbols, slots);
  }

  LogicalResult replayCalls(exec::RunOp run, func::FuncOp function, ArrayRef<Part> parts) {
    auto partOf = [&](Value operand) {
      if (auto view = operand.getDefiningOp<exec::ViewOp>())
        operand = view.getSlot();
      return parts[cast<BlockArgument>(operand).getArgNumber()];
    };
    SmallVector<Part> consumed, contributed;
    for (Operation &op : function.front()) {
      if (auto collective = dyn_cast<exec::CollectiveOp>(op)) {
        if (failed(read(run, partOf(collective.getSrc()))))
          return failure();
        write(partOf(collective.getDst()));
      }
      auto call = dyn_cast<exec::CallOp>(op);
      if (!call)
        continue;
      for (Value in : call.getIns()) {
        if (failed(read(run, partOf(in))))
          return failure();
        consumed.push_back(partOf(in));
      }
      for (auto [out, accumulate] : llvm::zip(call.getOuts(), call.getAccumulate())) {
        auto mode = (exec::Accumulate)accumulate;
        bool adds = mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !run.getFirst());
        if (failed(contribute(run, partOf(out), adds)) || (adds && failed(read(run, partOf(out)))))
          return failure();
        contributed.push_back(partOf(out));
        write(partOf(out));
      }
      if (call.getWorkspace())
        write(partOf(call.getWorkspace()));
    }
    for (Part part : consumed)
      contributions[part.buffer.getId()].remove(part.range);
    for (Part part : contributed)
      contributions[part.buffer.getId()].add(part.range);
    return success();
  }

  /// The first buffer other than the part's that owns some of its bytes; -1: it owns all, or nobody wrote.
  int64_t ownerOf(Part part) {
    auto [begin, end] = part.range;
    auto it = owners.upper_bound(begin);
    if (it != owners.begin())
      --it;
    for (; it != owners.end() && it->first < end; ++it)
      if (it->second.end > begin && it->second.buffer != (int64_t)part.buffer.getId())
        return it->second.buffer;
    return -1;
  }

  LogicalResult read(Operation *action, Part part) {
    exec::BufferOp buffer = part.buffer;
    if (part.range.isEmpty())
      return success();
    if (int64_t other = ownerOf(part); other >= 0)
      return overlap(action, buffer, other);
    if (!isOwned(part.range))
      return action->emitOpError() << "reads buffer '" << buffer.getName() << "', which nothing has written";
    return success();
  }

  bool isOwned(ByteRange range) {
    auto [begin, end] = range;
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

  /// Cuts the part out of the map and gives it to its buffer.
  void write(Part part) {
    auto [begin, end] = part.range;
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
    owners[begin] = {end, (int64_t)part.buffer.getId()};
  }

  struct Range {
    int64_t end, buffer;
  };
  exec::ProgramOp program;
  const SymbolTable &symbols;
  std::vector<exec::BufferOp> buffers;
  std::map<int64_t, Range> owners;          ///< by begin; disjoint
  std::map<int64_t, ByteSet> contributions; ///< by buffer: what was written and not read since
  llvm::DenseSet<func::FuncOp> verified;    ///< functions whose slots are
};

struct VerifyPlacementPass : xlc::impl::VerifyPlacementPassBase<VerifyPlacementPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      if (failed(Replay(program, symbols).run()))
        return signalPassFailure();
  }
};

} // namespace
