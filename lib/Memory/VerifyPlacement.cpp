// The gate of Memory. It replays the program instead of computing lifetimes, and tracks the last writer of each byte.
//
//   owner   [ bucket_0 ........ | layer[0] F/qkv ....... | ? ]      a map from address ranges to buffers
//
// A write makes the buffer the owner of its bytes; a read requires that it still owns them. A buffer placed over
// another that is still needed is detected at the first read after the damage. A part of a gradient that has not been
// read is a contribution: overwriting it instead of adding to it is an error.
//
// A step runs a function thousands of times: the slot accesses of its calls are read from the IR once, and the hazards
// between them are checked once for each set of addresses, which recur from micro-batch to micro-batch.
#include "BucketStates.h"
#include "CallHazards.h"
#include "SharedBuffers.h"
#include "mlir/IR/Threading.h"
#include <map>
#include <set>

namespace xlc {
#define GEN_PASS_DEF_VERIFYPLACEMENTPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

/// What a function does with its slots.
struct FunctionForm {
  /// A call or a collective. Slots are numbers of arguments.
  struct Action {
    bool isCall;
    SmallVector<unsigned> ins;
    SmallVector<std::pair<unsigned, exec::Accumulate>> outs;
    std::optional<unsigned> workspace;
  };

  explicit FunctionForm(func::FuncOp function) : function(function) {
    for (Type argument : function.getArgumentTypes())
      bytes.push_back(graph::getByteSize(cast<MemRefType>(argument)));
    for (Operation &op : function.front()) {
      if (auto collective = dyn_cast<exec::CollectiveOp>(op))
        actions.push_back({false,
                           {slotOf(collective.getSrc())},
                           {{slotOf(collective.getDst()), exec::Accumulate::never}},
                           std::nullopt});
      if (auto call = dyn_cast<exec::CallOp>(op))
        actions.push_back(readCall(call));
    }
  }

  func::FuncOp function;
  SmallVector<int64_t> bytes; ///< of each slot
  std::vector<Action> actions;
  SmallVector<unsigned> sums;                ///< slots that calls add to
  std::set<std::vector<int64_t>> hazardless; ///< where its slots have been, without harm (Replay::verifyHazardsOnce)

private:
  Action readCall(exec::CallOp call) {
    Action action{true, llvm::map_to_vector(call.getIns(), slotOf), {}, std::nullopt};
    for (auto [out, accumulate] : llvm::zip(call.getOuts(), call.getAccumulate())) {
      action.outs.emplace_back(slotOf(out), (exec::Accumulate)accumulate);
      if (accumulate)
        sums.push_back(slotOf(out));
    }
    if (Value workspace = call.getWorkspace())
      action.workspace = slotOf(workspace);
    return action;
  }
};

class Replay {
public:
  Replay(exec::ProgramOp program, const SymbolTable &symbols) : program(program), symbols(symbols) {
    for (auto op : program.getBody().front().getOps<exec::BufferOp>())
      buffers.push_back({op, {op.getOffset(), op.getOffset() + op.getSize()}});
  }

  LogicalResult run() {
    for (size_t i = 0; i < buffers.size(); ++i) {
      auto [op, range] = buffers[i];
      if (range.begin < 0 || range.end > (int64_t)program.getArena())
        return op.emitOpError() << "'" << op.getName() << "' occupies bytes " << range.begin << " to " << range.end
                                << " of an arena of " << program.getArena() << " bytes";
      if (op.getPersistent()) {
        if (int64_t other = ownerOf(allOf(i)); other >= 0)
          return overlap(op, i, other);
        write(allOf(i));
      }
    }
    for (Operation &op : program.getBody().front()) {
      if (!isa<exec::Action>(op))
        continue;
      if (failed(replay(op)))
        return failure();
      ++moment;
    }
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].op.getPersistent() && failed(read(program, allOf(i))))
        return failure();
    return success();
  }

private:
  struct Buffer {
    exec::BufferOp op;
    ByteRange range;
  };

  /// Bytes of the arena, as a part of one buffer. Where shards differ in their place: those of all of them.
  struct Part {
    size_t buffer;
    ByteRange range;
  };

  Part allOf(size_t buffer) const { return {buffer, buffers[buffer].range}; }
  StringRef nameOf(size_t buffer) { return buffers[buffer].op.getName(); }

  /// `bytes` from a place on. Fails where they leave the buffer on some rank.
  FailureOr<Part> partAt(Operation *action, exec::PlaceAttr place, int64_t bytes) {
    if (place.getBuffer() < 0 || place.getBuffer() >= (int64_t)buffers.size())
      return action->emitOpError() << "uses buffer " << place.getBuffer() << ", which must be below " << buffers.size();
    Part all = allOf(place.getBuffer());
    exec::BufferOp buffer = buffers[all.buffer].op;
    if (moment < buffer.getFirst() || moment > buffer.getLast())
      return action->emitOpError() << "is action " << moment << ", but uses buffer '" << nameOf(all.buffer)
                                   << "', which lives from action " << buffer.getFirst() << " to " << buffer.getLast();
    int64_t spread = (program.getMesh().getShards() - 1) * place.getStride();
    int64_t begin = place.getOffset() + std::min<int64_t>(spread, 0);
    int64_t end = place.getOffset() + std::max<int64_t>(spread, 0) + bytes, size = all.range.end - all.range.begin;
    if (begin < 0 || end > size)
      return action->emitOpError() << "accesses bytes " << begin << " to " << end << " of buffer '"
                                   << nameOf(all.buffer) << "', which has " << size << " bytes";
    return Part{all.buffer, {all.range.begin + begin, all.range.begin + end}};
  }

  LogicalResult replay(Operation &op) {
    if (auto load = dyn_cast<exec::LoadOp>(op))
      return writeAll(load, load.getPlaces(), std::nullopt);
    if (auto store = dyn_cast<exec::StoreOp>(op)) {
      LogicalResult outcome = success();
      store.forEachOutput([&](StringAttr, exec::PlaceAttr place, RankedTensorType type) {
        outcome = failure(failed(outcome) || failed(readAt(&op, place, graph::getByteSize(type))));
      });
      return outcome;
    }
    if (auto begin = dyn_cast<exec::BeginOp>(op))
      return writeNumbers(begin);
    if (auto run = dyn_cast<exec::RunOp>(op))
      return replayRun(run);
    if (auto exchange = dyn_cast<exec::ExchangeOp>(op))
      return move(exchange);
    if (auto send = dyn_cast<exec::SendOp>(op))
      return readAt(&op, send.getPlace(), send.getBytes());
    if (auto receive = dyn_cast<exec::ReceiveOp>(op))
      return writeAll(receive, ArrayAttr::get(op.getContext(), receive.getPlace()), receive.getBytes());
    if (auto release = dyn_cast<exec::ReleaseOp>(op))
      return LogicalResult(partAt(&op, release.getPlace(), release.getBytes()));
    return success();
  }

  LogicalResult readAt(Operation *op, exec::PlaceAttr place, int64_t bytes) {
    FailureOr<Part> part = partAt(op, place, bytes);
    return failed(part) ? failure() : read(op, *part);
  }

  LogicalResult writeNumbers(exec::BeginOp begin) {
    bool hasFailed = false;
    begin.forEachWrite([&](exec::PlaceAttr place, int64_t offset, int64_t bytes) {
      FailureOr<Part> part = hasFailed ? FailureOr<Part>(failure()) : partAt(begin, place, offset + bytes);
      if (hasFailed = failed(part); !hasFailed)
        part->range.begin += offset, write(*part);
    });
    return failure(hasFailed);
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

  LogicalResult move(exec::ExchangeOp op) {
    exec::Exchange what = op.getExchange();
    auto bytesOf = [&](int64_t elements) { return graph::getByteSize(what.element, elements); };
    FailureOr<Part> source = partAt(op, op.getSrc(), bytesOf(what.sourceElements()));
    FailureOr<Part> target = partAt(op, op.getDst(), bytesOf(what.resultElements()));
    if (failed(source) || failed(target) || failed(read(op, *source)) || (what.accumulate && failed(read(op, *target))))
      return failure();
    consume(*source);
    if (failed(contribute(op, *target, what.accumulate)))
      return failure();
    noteContribution(*target);
    write(*target);
    return success();
  }

  /// Fails where a contribution to a gradient is lost. Whether it is one more is for the caller to note.
  LogicalResult contribute(Operation *action, Part part, bool adds) {
    auto it = contributions.find(part.buffer);
    if (adds || it == contributions.end() || !it->second.meets(part.range))
      return success();
    return action->emitOpError() << "overwrites an unread part of '" << nameOf(part.buffer)
                                 << "' instead of adding to it";
  }

  void noteContribution(Part part) {
    if (buffers[part.buffer].op.getCause() == exec::Cause::gradients)
      contributions[part.buffer].add(part.range);
  }

  void consume(Part part) {
    if (auto it = contributions.find(part.buffer); it != contributions.end())
      it->second.remove(part.range);
  }

  FailureOr<FunctionForm *> formOf(exec::RunOp run) {
    std::unique_ptr<FunctionForm> &form = forms[run.getFunctionAttr()];
    if (form)
      return form.get();
    auto function = symbols.lookup<func::FuncOp>(run.getFunction());
    if (failed(verifySlots(function)))
      return failure();
    form = std::make_unique<FunctionForm>(function);
    return form.get();
  }

  LogicalResult replayRun(exec::RunOp run) {
    FailureOr<FunctionForm *> form = formOf(run);
    if (failed(form))
      return failure();
    SmallVector<Part> parts;
    SmallVector<ByteRange> slots;
    for (auto [bytes, place] : llvm::zip_equal((*form)->bytes, run.getPlaces().getAsRange<exec::PlaceAttr>())) {
      FailureOr<Part> part = partAt(run, place, bytes);
      if (failed(part))
        return failure();
      parts.push_back(*part);
      int64_t begin = buffers[place.getBuffer()].range.begin + place.getOffset();
      slots.push_back({begin, begin + bytes});
    }
    if (failed(replayActions(run, **form, parts)))
      return failure();
    return verifyHazardsOnce(run, **form, parts, slots);
  }

  /// Hazards depend on the slots' addresses, and on which slots share a buffer with a sum.
  LogicalResult verifyHazardsOnce(exec::RunOp run, FunctionForm &form, ArrayRef<Part> parts,
                                  ArrayRef<ByteRange> slots) {
    std::vector<int64_t> where;
    where.reserve(2 * slots.size());
    for (ByteRange slot : slots)
      where.push_back(slot.begin);
    llvm::SmallDenseSet<size_t> buffersOfSums;
    for (unsigned sum : form.sums)
      buffersOfSums.insert(parts[sum].buffer);
    for (Part part : parts)
      where.push_back(buffersOfSums.contains(part.buffer) ? int64_t(part.buffer) : -1);
    auto known = form.hazardless.lower_bound(where);
    if (known != form.hazardless.end() && *known == where)
      return success();
    if (failed(verifyHazards(run, form.function, symbols, slots)))
      return failure();
    form.hazardless.insert(known, std::move(where));
    return success();
  }

  LogicalResult replayActions(exec::RunOp run, const FunctionForm &form, ArrayRef<Part> parts) {
    SmallVector<Part> consumed, contributed;
    for (const FunctionForm::Action &action : form.actions) {
      for (unsigned in : action.ins) {
        if (failed(read(run, parts[in])))
          return failure();
        if (action.isCall)
          consumed.push_back(parts[in]);
      }
      for (auto [out, mode] : action.outs) {
        Part part = parts[out];
        bool adds = mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !run.getFirst());
        if (action.isCall && (failed(contribute(run, part, adds)) || (adds && failed(read(run, part)))))
          return failure();
        if (action.isCall)
          contributed.push_back(part);
        write(part);
      }
      if (action.workspace)
        write(parts[*action.workspace]);
    }
    for (Part part : consumed)
      consume(part);
    for (Part part : contributed)
      noteContribution(part);
    return success();
  }

  /// The first buffer other than the part's that owns some of its bytes; -1: it owns all, or nobody wrote.
  int64_t ownerOf(Part part) {
    auto [begin, end] = part.range;
    auto it = owners.upper_bound(begin);
    if (it != owners.begin())
      --it;
    for (; it != owners.end() && it->first < end; ++it)
      if (it->second.end > begin && it->second.buffer != (int64_t)part.buffer)
        return it->second.buffer;
    return -1;
  }

  LogicalResult read(Operation *action, Part part) {
    if (part.range.isEmpty() || isOneRange(part))
      return success();
    if (int64_t other = ownerOf(part); other >= 0)
      return overlap(action, part.buffer, other);
    if (!isOwned(part.range))
      return action->emitOpError() << "reads buffer '" << nameOf(part.buffer) << "', which was not written";
    return success();
  }

  /// What a buffer owns is one range mostly: one look tells.
  bool isOneRange(Part part) {
    auto it = owners.upper_bound(part.range.begin);
    return it != owners.begin() && std::prev(it)->second.end >= part.range.end &&
           std::prev(it)->second.buffer == (int64_t)part.buffer;
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

  LogicalResult overlap(Operation *action, size_t buffer, int64_t other) {
    return action->emitOpError() << "reads buffer '" << nameOf(buffer) << "', whose live bytes were overwritten by '"
                                 << nameOf(other) << "'";
  }

  /// Cuts the part out of the map and gives it to its buffer.
  void write(Part part) {
    auto [begin, end] = part.range;
    if (begin == end)
      return;
    auto it = owners.lower_bound(begin);
    if (it != owners.end() && it->first == begin && it->second.end == end) { // where another one was, as mostly
      it->second.buffer = (int64_t)part.buffer;
      return;
    }
    if (it != owners.begin()) {
      auto before = std::prev(it);
      Range range = before->second;
      if (range.end > begin) {
        before->second.end = begin;
        if (range.end > end)
          it = owners.emplace_hint(it, end, range);
      }
    }
    for (; it != owners.end() && it->first < end; it = owners.erase(it))
      if (it->second.end > end) {
        Range rest = it->second;
        it = owners.erase(it);
        it = owners.emplace_hint(it, end, rest);
        break;
      }
    owners.emplace_hint(it, begin, Range{end, (int64_t)part.buffer});
  }

  struct Range {
    int64_t end, buffer;
  };
  exec::ProgramOp program;
  const SymbolTable &symbols;
  std::vector<Buffer> buffers;
  int64_t moment = 0;                            ///< number of the action that is replayed
  std::map<int64_t, Range> owners;               ///< by begin; disjoint
  llvm::DenseMap<size_t, ByteSet> contributions; ///< by buffer of gradients: what was written and not read since
  llvm::DenseMap<Attribute, std::unique_ptr<FunctionForm>> forms; ///< of functions whose slots are verified
};

struct VerifyPlacementPass : xlc::impl::VerifyPlacementPassBase<VerifyPlacementPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<exec::ProgramOp> programs(getOperation().getOps<exec::ProgramOp>());
    auto verify = [&](exec::ProgramOp program) {
      return failed(verifyBucketStates(program)) ? failure() : Replay(program, symbols).run();
    };
    if (failed(failableParallelForEach(&getContext(), programs, verify)) || failed(verifySharedBuffers(programs)))
      signalPassFailure();
  }
};

} // namespace
