// See ActionAccesses.h. The slot accesses of a function are read once, for all its runs.
#include "ActionAccesses.h"
#include "CallHazards.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;

ActionAccesses::ActionAccesses(exec::ProgramOp program)
    : symbols(program->getParentOfType<ModuleOp>()), lastShard(program.getMesh().getShards() - 1) {
  for (auto buffer : program.getBody().front().getOps<exec::BufferOp>())
    buffers.push_back({buffer.getOffset(), buffer.getOffset() + buffer.getSize()});
}

ByteRange ActionAccesses::at(exec::PlaceAttr place, int64_t bytes) const {
  int64_t begin = buffers[place.getBuffer()].begin + place.getOffset(), spread = lastShard * place.getStride();
  return {begin + std::min<int64_t>(spread, 0), begin + std::max<int64_t>(spread, 0) + bytes};
}

ByteRange ActionAccesses::untilEnd(exec::PlaceAttr place) const {
  return {at(place, 0).begin, buffers[place.getBuffer()].end};
}

const ActionAccesses::Slots &ActionAccesses::slotsOf(exec::RunOp run) {
  auto [it, isNew] = functions.try_emplace(run.getFunctionAttr());
  Slots &slots = it->second;
  if (!isNew)
    return slots;
  auto function = symbols.lookup<func::FuncOp>(run.getFunction());
  for (Type argument : function.getArgumentTypes())
    slots.push_back({graph::getByteSize(cast<MemRefType>(argument))});
  for (Operation &op : function.front()) {
    if (auto call = dyn_cast<exec::CallOp>(op)) {
      for (Value in : call.getIns())
        slots[slotOf(in)].isRead = true;
      for (Value out : call.getOuts())
        slots[slotOf(out)].isWritten = true;
      if (Value workspace = call.getWorkspace())
        slots[slotOf(workspace)].isWritten = true;
    }
    if (auto collective = dyn_cast<exec::CollectiveOp>(op))
      slots[slotOf(collective.getSrc())].isRead = slots[slotOf(collective.getDst())].isWritten = true;
  }
  return slots;
}

void ActionAccesses::forEach(exec::Action action, llvm::function_ref<void(ByteRange, bool)> visit) {
  llvm::TypeSwitch<Operation *>(action)
      .Case([&](exec::BeginOp begin) {
        begin.forEachWrite([&](exec::PlaceAttr place, int64_t offset, int64_t bytes) {
          int64_t first = at(place, 0).begin + offset, last = at(place, bytes).end + offset;
          visit({first, last}, true);
        });
      })
      .Case([&](exec::LoadOp load) {
        for (auto place : load.getPlaces().getAsRange<exec::PlaceAttr>())
          visit(untilEnd(place), true);
      })
      .Case([&](exec::StoreOp store) {
        store.forEachOutput([&](StringAttr, exec::PlaceAttr place, RankedTensorType type) {
          visit(at(place, graph::getByteSize(type)), false);
        });
      })
      .Case([&](exec::RunOp run) {
        for (auto [slot, place] : llvm::zip_equal(slotsOf(run), run.getPlaces().getAsRange<exec::PlaceAttr>()))
          if (slot.isRead || slot.isWritten)
            visit(at(place, slot.bytes), slot.isWritten);
      })
      .Case([&](exec::ExchangeOp op) {
        exec::Exchange exchange = op.getExchange();
        visit(at(op.getSrc(), graph::getByteSize(exchange.element, exchange.sourceElements())), false);
        visit(at(op.getDst(), graph::getByteSize(exchange.element, exchange.resultElements())), true);
      })
      .Case([&](exec::SendOp send) { visit(at(send.getPlace(), send.getBytes()), false); })
      .Case([&](exec::ReceiveOp receive) { visit(at(receive.getPlace(), receive.getBytes()), true); })
      .Case([&](exec::ReleaseOp release) { visit(at(release.getPlace(), release.getBytes()), true); })
      .Default([](Operation *) { llvm_unreachable("all actions are named"); });
}
