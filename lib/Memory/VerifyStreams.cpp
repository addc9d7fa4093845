// The gate of streams: happens-before over bytes, by replay. It reads the program for itself and shares nothing with
// AssignDependencies but the set of ranges.
//
// Each stream counts its actions: its ticks. A stream knows how many ticks of each other one have ended, from what its
// actions came after. Each byte remembers the tick of its last write, and of the last read on each stream; whoever touches
// it must know of these (the idea of FastTrack, Flanagan and Freund 2009).
#include "ByteRanges.h"
#include "CallHazards.h"
#include "mlir/IR/Threading.h"
#include "xlc/Memory/Memory.h"

#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYSTREAMSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

constexpr unsigned kStreams = exec::getMaxEnumValForStream() + 1;

/// An access as the bytes remember it; tick 0: none.
struct Epoch {
  int64_t tick = 0;
  Operation *action = nullptr;
  int64_t buffer = -1;
};

/// What happened to a range of bytes.
struct History {
  int64_t end = 0;
  unsigned writingStream = 0;
  Epoch write;
  std::array<Epoch, kStreams> reads;
};

class Race {
public:
  Race(exec::ProgramOp program, const SymbolTable &symbols) : program(program), symbols(symbols) {
    for (auto op : program.getBody().front().getOps<exec::BufferOp>())
      buffers.push_back(op);
  }

  LogicalResult verify() {
    SmallVector<exec::Action> actions(program.getBody().front().getOps<exec::Action>());
    for (auto [number, action] : llvm::enumerate(actions))
      if (failed(verifyAfter(action, number)))
        return failure();
    for (exec::Action action : actions)
      if (action.getStream() != exec::Stream::compute)
        visit(action, [&](int64_t, ByteRange bytes, bool) { besideCompute.add(bytes); });
    for (exec::Action action : actions)
      if (failed(replay(action)))
        return failure();
    return success();
  }

private:
  using Visit = llvm::function_ref<void(int64_t buffer, ByteRange bytes, bool writes)>;
  using Ticks = std::array<int64_t, kStreams>;

  LogicalResult verifyAfter(exec::Action action, int64_t number) {
    int64_t before = -1;
    for (int64_t other : action.getAfter()) {
      if (other < 0 || other >= number)
        return action.emitOpError() << "is action " << number << ", and comes after action " << other
                                    << ", which is not earlier";
      if (other <= before)
        return action.emitOpError() << "comes after actions " << before << " and " << other << ", which do not ascend";
      before = other;
    }
    return success();
  }

  LogicalResult replay(exec::Action action) {
    auto stream = unsigned(action.getStream());
    Ticks &known = knownTo[stream];
    for (int64_t other : action.getAfter())
      for (auto [mine, its] : llvm::zip_equal(known, whenEnded[other]))
        mine = std::max(mine, its);
    int64_t tick = known[stream] + 1;
    SmallVector<std::tuple<int64_t, ByteRange, bool>> accesses;
    visit(action, [&](int64_t buffer, ByteRange bytes, bool writes) {
      if (action.getStream() != exec::Stream::compute || besideCompute.meets(bytes))
        accesses.emplace_back(buffer, bytes, writes);
    });
    for (auto [buffer, bytes, writes] : accesses)
      if (failed(check(action, buffer, bytes, writes, known)))
        return failure();
    for (auto [buffer, bytes, writes] : accesses)
      remember({tick, action, buffer}, stream, bytes, writes);
    known[stream] = tick;
    whenEnded.push_back(known);
    return success();
  }

  LogicalResult check(exec::Action action, int64_t buffer, ByteRange bytes, bool writes, const Ticks &known) {
    auto it = histories.upper_bound(bytes.begin);
    if (it != histories.begin() && std::prev(it)->second.end > bytes.begin)
      --it;
    for (; it != histories.end() && it->first < bytes.end; ++it) {
      const History &history = it->second;
      ByteRange common{std::max(bytes.begin, it->first), std::min(bytes.end, history.end)};
      if (history.write.tick > known[history.writingStream])
        return race(action, buffer, writes, history.write, "writes", common);
      for (unsigned stream = 0; writes && stream < kStreams; ++stream)
        if (history.reads[stream].tick > known[stream])
          return race(action, buffer, writes, history.reads[stream], "reads", common);
    }
    return success();
  }

  LogicalResult race(exec::Action action, int64_t buffer, bool writes, const Epoch &other, StringRef does,
                     ByteRange common) {
    auto otherAction = cast<exec::Action>(other.action);
    InFlightDiagnostic error = action.emitOpError();
    error << "'" << action.getLabel() << "' on " << stringifyStream(action.getStream())
          << (writes ? " writes" : " reads") << " bytes " << common.begin << " to " << common.end << " of the arena ('"
          << buffers[buffer].getName() << "'), which '" << otherAction.getLabel() << "' on "
          << stringifyStream(otherAction.getStream()) << " " << does << " ('" << buffers[other.buffer].getName()
          << "'); nothing orders them";
    error.attachNote(otherAction.getLoc()) << "the other action";
    return error;
  }

  void remember(const Epoch &epoch, unsigned stream, ByteRange bytes, bool writes) {
    if (bytes.isEmpty())
      return;
    cut(bytes.begin), cut(bytes.end);
    int64_t at = bytes.begin;
    for (auto it = histories.lower_bound(at); at < bytes.end; ++it) {
      if (it == histories.end() || it->first > at) {
        History unused;
        unused.end = it == histories.end() ? bytes.end : std::min(bytes.end, it->first);
        it = histories.emplace_hint(it, at, unused);
      }
      at = it->second.end;
      if (writes)
        it->second = {at, stream, epoch, {}};
      else
        it->second.reads[stream] = epoch;
    }
    if (writes) // one history again
      join(bytes);
  }

  void join(ByteRange bytes) {
    auto first = histories.find(bytes.begin);
    histories.erase(std::next(first), histories.lower_bound(bytes.end));
    first->second.end = bytes.end;
  }

  void cut(int64_t address) {
    auto it = histories.lower_bound(address);
    if (it == histories.begin() || std::prev(it)->second.end <= address)
      return;
    History behind = std::prev(it)->second;
    std::prev(it)->second.end = address;
    histories.emplace_hint(it, address, behind);
  }

  /// From the lowest to behind the highest byte that any shard touches.
  void visitAt(exec::PlaceAttr place, int64_t bytes, bool writes, Visit visit) {
    int64_t begin = buffers[place.getBuffer()].getOffset() + place.getOffset();
    int64_t far = begin + (program.getMesh().getShards() - 1) * place.getStride();
    visit(place.getBuffer(), {std::min(begin, far), std::max(begin, far) + bytes}, writes);
  }

  void visitCalls(exec::RunOp run, Visit visit) {
    auto [it, isNew] = slots.try_emplace(run.getFunctionAttr());
    if (isNew)
      it->second = readSlots(symbols.lookup<func::FuncOp>(run.getFunction()));
    for (auto [number, bytes, writes] : it->second)
      visitAt(cast<exec::PlaceAttr>(run.getPlaces()[number]), bytes, writes, visit);
  }

  struct SlotAccess {
    unsigned number;
    int64_t bytes;
    bool writes;
  };

  /// Each slot that calls read, and each that they write.
  static SmallVector<SlotAccess> readSlots(func::FuncOp function) {
    llvm::SmallSetVector<unsigned, 32> reads, writes;
    function.walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](exec::CallOp call) {
            reads.insert_range(llvm::map_range(call.getIns(), slotOf));
            writes.insert_range(llvm::map_range(call.getOuts(), slotOf));
            if (call.getWorkspace())
              writes.insert(slotOf(call.getWorkspace()));
          })
          .Case([&](exec::CollectiveOp collective) {
            reads.insert(slotOf(collective.getSrc()));
            writes.insert(slotOf(collective.getDst()));
          });
    });
    auto bytesOf = [&](unsigned slot) {
      auto type = cast<MemRefType>(function.getArgument(slot).getType());
      return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    };
    SmallVector<SlotAccess> accesses;
    for (unsigned slot : reads)
      accesses.push_back({slot, bytesOf(slot), false});
    for (unsigned slot : writes)
      accesses.push_back({slot, bytesOf(slot), true});
    return accesses;
  }

  void visit(exec::Action action, Visit visit) {
    llvm::TypeSwitch<Operation *>(action)
        .Case([&](exec::RunOp run) { visitCalls(run, visit); })
        .Case([&](exec::ExchangeOp op) {
          exec::Exchange what = op.getExchange();
          int64_t width = llvm::divideCeil(what.element.getIntOrFloatBitWidth(), 8);
          visitAt(op.getSrc(), what.sourceElements() * width, false, visit);
          visitAt(op.getDst(), what.resultElements() * width, true, visit);
        })
        .Case([&](exec::SendOp send) { visitAt(send.getPlace(), send.getBytes(), false, visit); })
        .Case<exec::ReceiveOp, exec::ReleaseOp>(
            [&](auto op) { visitAt(op.getPlace(), int64_t(op.getBytes()), true, visit); })
        .Default([&](Operation *op) { // a begin or a load: all of what it names
          cast<exec::Action>(op).forEachPlace([&](exec::PlaceAttr place) {
            int64_t bytes = buffers[place.getBuffer()].getSize() - place.getOffset();
            visitAt(place, isa<exec::BeginOp>(op) ? std::min<int64_t>(bytes, 16) : bytes, true, visit);
          });
        });
  }

  exec::ProgramOp program;
  const SymbolTable &symbols;
  std::vector<exec::BufferOp> buffers;
  llvm::DenseMap<Attribute, SmallVector<SlotAccess>> slots; ///< by function
  ByteSet besideCompute;                                    ///< other bytes can have no race
  std::map<int64_t, History> histories;                     ///< by begin; disjoint
  std::array<Ticks, kStreams> knownTo{};                    ///< how far each stream knows that each has come
  std::vector<Ticks> whenEnded;                             ///< the same, of each action when it has ended
};

struct VerifyStreamsPass : xlc::impl::VerifyStreamsPassBase<VerifyStreamsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<exec::ProgramOp> programs(getOperation().getOps<exec::ProgramOp>());
    auto verify = [&](exec::ProgramOp program) { return Race(program, symbols).verify(); };
    if (failed(failableParallelForEach(&getContext(), programs, verify)))
      signalPassFailure();
  }
};

} // namespace
