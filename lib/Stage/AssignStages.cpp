// Assigns consecutive units to chunks, and chunks to pp ranks. If the user specifies no cuts, they are chosen so that
// the slowest chunk is as fast as possible, embedding and head included; among such cuts, so that the largest memory is
// smallest. With several chunks per rank, the slowest rank has priority.
//
//     embed  layer 0  layer 1 | layer 2  layer 3  layer 4 | layer 5  layer 6 | layer 7  head
//     chunk 0                   chunk 1                     chunk 2            chunk 3
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Stage/Balance.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/MapVector.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNSTAGESPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

int64_t graph::getChunk(Operation *op) {
  auto chunk = op->getAttrOfType<IntegerAttr>(kChunk);
  return chunk ? chunk.getInt() : 0;
}

int64_t graph::getStage(ModuleOp module, int64_t chunk) {
  auto stages = module->getAttrOfType<DenseI64ArrayAttr>(kStages);
  return stages ? stages[chunk] : 0;
}

namespace {

/// Bytes that a rank has for a parameter from step to step: as units read it, the master of what is read narrow, the
/// gradient and the optimizer's states, in the types of @update. That has none for one that is not trained.
class ParameterBytes {
public:
  explicit ParameterBytes(ModuleOp module) {
    if (auto update = findUpdate(module))
      for (BlockArgument argument : update.getArguments()) {
        Argument what(argument);
        Type element = typeOf(argument).getElementType();
        if (StringAttr name = what.getParameter())
          updated[name.getValue()] = element;
        else if (StringAttr name = what.getGradient())
          beside[name.getValue()].push_back(element);
        else if (what.getState())
          beside[what.getOwner()].push_back(element);
      }
  }

  Quantity of(BlockArgument parameter) const {
    StringRef name = Argument(parameter).getParameter();
    RankedTensorType type = typeOf(parameter);
    Quantity bytes = getByteSize(type);
    if (Type element = updated.lookup(name); element && element != type.getElementType())
      bytes += getByteSize(element, type.getNumElements());
    for (Type element : beside.lookup(name))
      bytes += getByteSize(element, type.getNumElements());
    return bytes;
  }

private:
  llvm::StringMap<Type> updated;
  llvm::StringMap<SmallVector<Type>> beside; ///< of its gradient and states
};

Quantity bytesOf(Value value) { return getByteSize(cast<RankedTensorType>(value.getType())); }

struct Unit {
  ModelUnitAttr name;
  UnitCost cost;
  DenseSet<Value> params;
};

/// All units in the order of their first forward op, with what they cost.
std::vector<Unit> findUnits(func::FuncOp function, int64_t flopsPerByte) {
  ParameterBytes parameterBytes(function->getParentOfType<ModuleOp>());
  llvm::MapVector<Attribute, Unit> units;
  for (Operation &op : function.front().without_terminator())
    if (ModelUnitAttr name = getUnit(&op); name && getRole(&op) == Role::F)
      units.try_emplace(name, Unit{name, {}, {}});
  for (Operation &op : function.front().without_terminator()) {
    auto it = units.find(getUnit(&op));
    if (it == units.end())
      continue;
    UnitCost &cost = it->second.cost;
    Quantity bytes;
    for (Value result : op.getResults()) {
      bytes += bytesOf(result);
      bool isSaved = llvm::any_of(result.getUsers(), [](Operation *user) {
        std::optional<Role> role = getRole(user);
        return role && *role != Role::F;
      });
      if (isSaved && getRole(&op) == Role::F)
        cost.residualBytes += bytesOf(result);
    }
    if (!computesNothing(&op)) // a view takes no time, nor does its copy in backward
      cost.time += std::max<Quantity>(countFlops(&op), flopsPerByte * bytes);
    for (Value operand : op.getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (Argument(argument).getParameter() && it->second.params.insert(operand).second)
          cost.stateBytes += parameterBytes.of(argument);
  }
  std::vector<Unit> inOrder;
  for (auto &[name, unit] : units)
    inOrder.push_back(std::move(unit));
  return inOrder;
}

struct AssignStagesPass : xlc::impl::AssignStagesPassBase<AssignStagesPass> {
  using AssignStagesPassBase::AssignStagesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp function = Entry::find(module, Purpose::train).getFunction();
    const PipelineSchedule *known = findPipelineSchedule(schedule);
    PipelineShape shape{dist::getMesh(module).getPp(), chunks, microBatches};
    if (!function || shape.chunks() == 1)
      return;
    std::optional<std::string> misfit =
        known ? findMisfit(*known, shape) : "there is no schedule '" + schedule.getValue() + "'";
    if (misfit) {
      module.emitError() << *misfit;
      return signalPassFailure();
    }
    std::vector<Unit> units = findUnits(function, flopsPerByte);
    std::vector<size_t> ends;
    if (failed(findEnds(units, *known, shape, ends)))
      return signalPassFailure();
    DenseMap<Attribute, int64_t> chunkOf;
    for (size_t unit = 0, chunk = 0; unit < units.size(); ++unit) {
      chunk += unit == ends[chunk];
      chunkOf[units[unit].name] = chunk;
    }
    Builder builder(module.getContext());
    for (Entry entry : Entry::all(module))
      for (Operation &op : entry.getFunction().front().without_terminator())
        if (ModelUnitAttr name = getUnit(&op))
          op.setAttr(kChunk, builder.getI64IntegerAttr(chunkOf.lookup(name)));
    SmallVector<int64_t> stages;
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk)
      stages.push_back(known->rankOf(shape, chunk));
    module->setAttr(kStages, builder.getDenseI64ArrayAttr(stages));
  }

private:
  /// Where each chunk ends: at the user's cuts, or in balance.
  LogicalResult findEnds(ArrayRef<Unit> units, const PipelineSchedule &known, const PipelineShape &shape,
                         std::vector<size_t> &ends) {
    if ((int64_t)units.size() < shape.chunks())
      return getOperation().emitError() << shape.chunks() << " stages need at least " << shape.chunks()
                                        << " units, but the model has " << units.size();
    if (auto cuts = getOperation()->getAttrOfType<ArrayAttr>(kCuts)) {
      for (Attribute cut : cuts)
        ends.push_back(llvm::find_if(units, [&](const Unit &unit) { return unit.name == cut; }) - units.begin() + 1);
      ends.push_back(units.size());
      if ((int64_t)ends.size() != shape.chunks() || !llvm::is_sorted(ends, std::less_equal<>()))
        return getOperation().emitError() << "cuts do not define " << shape.chunks() << " stages";
      return success();
    }
    PipelineTimes times = simulate(known, shape, makeOrder(known, shape), SlotTimes());
    SmallVector<int64_t> inFlight, rankOf;
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk) {
      rankOf.push_back(known.rankOf(shape, chunk));
      inFlight.push_back(llvm::divideCeil(times.peaks[rankOf.back()], shape.chunksPerRank));
    }
    SmallVector<UnitCost> costs = llvm::map_to_vector(units, [](const Unit &unit) { return unit.cost; });
    ends = balanceStages(costs, inFlight);
    if (shape.chunksPerRank > 1)
      balanceRanks(costs, inFlight, rankOf, ends);
    return success();
  }
};

} // namespace
