// The gate of streams: no two streams touch the same bytes in an undefined order (xlc/Support/StreamRaces.h). It reads
// the program on its own and shares only the set of ranges with AssignDependencies.
#include "CallHazards.h"
#include "mlir/IR/Threading.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Support/StreamRaces.h"

#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYSTREAMSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

constexpr unsigned kStreams = exec::getMaxEnumValForStream() + 1;

class Race {
public:
  Race(exec::ProgramOp program, const SymbolTable &symbols) : program(program), symbols(symbols) {
    for (auto op : program.getBody().front().getOps<exec::BufferOp>())
      buffers.push_back(op);
  }

  LogicalResult verify() {
    llvm::append_range(actions, program.getBody().front().getOps<exec::Action>());
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

  LogicalResult verifyAfter(exec::Action action, int64_t number) {
    int64_t before = -1;
    for (int64_t other : action.getAfter()) {
      if (other < 0 || other >= number)
        return action.emitOpError() << "is action " << number << ", but waits for action " << other
                                    << ", which is not earlier";
      if (other <= before)
        return action.emitOpError() << "waits for actions " << before << " and " << other
                                    << ", which must be listed in ascending order";
      before = other;
    }
    return success();
  }

  LogicalResult replay(exec::Action action) {
    std::vector<ByteAccess> accesses;
    visit(action, [&](int64_t buffer, ByteRange bytes, bool writes) {
      if (action.getStream() != exec::Stream::compute || besideCompute.meets(bytes))
        accesses.push_back({buffer, bytes, writes});
    });
    std::optional<StreamRace> race = races.add(size_t(action.getStream()), action.getAfter(), accesses);
    return race ? complain(action, *race) : success();
  }

  LogicalResult complain(exec::Action action, const StreamRace &race) {
    exec::Action other = actions[race.other];
    auto named = [&](exec::Action racing, int64_t buffer) {
      return RacingAction{racing.getLabel(), stringifyStream(racing.getStream()), buffers[buffer].getName()};
    };
    InFlightDiagnostic error =
        action.emitOpError(describe(race, named(action, race.buffer), named(other, race.otherBuffer)));
    error.attachNote(other.getLoc()) << "the other action";
    return error;
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
      return graph::getByteSize(cast<MemRefType>(function.getArgument(slot).getType()));
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
          visitAt(op.getSrc(), graph::getByteSize(what.element, what.sourceElements()), false, visit);
          visitAt(op.getDst(), graph::getByteSize(what.element, what.resultElements()), true, visit);
        })
        .Case([&](exec::StoreOp store) {
          store.forEachOutput([&](StringAttr, exec::PlaceAttr place, RankedTensorType type) {
            visitAt(place, graph::getByteSize(type), false, visit);
          });
        })
        .Case([&](exec::SendOp send) { visitAt(send.getPlace(), send.getBytes(), false, visit); })
        .Case<exec::ReceiveOp, exec::ReleaseOp>(
            [&](auto op) { visitAt(op.getPlace(), int64_t(op.getBytes()), true, visit); })
        .Case([&](exec::BeginOp begin) {
          begin.forEachWrite([&](exec::PlaceAttr place, int64_t offset, int64_t bytes) {
            visitAt(exec::PlaceAttr::get(begin.getContext(), place.getBuffer(), place.getOffset() + offset,
                                         place.getStride()),
                    bytes, true, visit);
          });
        })
        .Default([&](Operation *op) { // a load: all of what it names
          cast<exec::Action>(op).forEachPlace([&](exec::PlaceAttr place) {
            visitAt(place, buffers[place.getBuffer()].getSize() - place.getOffset(), true, visit);
          });
        });
  }

  exec::ProgramOp program;
  const SymbolTable &symbols;
  std::vector<exec::BufferOp> buffers;
  llvm::DenseMap<Attribute, SmallVector<SlotAccess>> slots; ///< by function
  ByteSet besideCompute;                                    ///< other bytes can have no race
  SmallVector<exec::Action> actions;
  StreamRaces<kStreams> races;
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
