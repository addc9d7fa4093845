// Finds the user's cuts in the model. This precedes Differentiate, while the ops still correspond to the file's nodes:
// a cut inside a unit makes two units of it, and backward follows.
//
//     layer 1: ln qkv attention | proj add ln mlp add        cut after attention: layer_a 1, layer_b 1
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

class Cuts {
public:
  Cuts(func::FuncOp function, const Spec &spec, Diagnostics &diagnostics)
      : function(function), spec(spec), diagnostics(diagnostics) {
    for (Operation &op : function.front().without_terminator())
      op.getLoc()->walk([&](Location location) {
        if (auto name = dyn_cast<NameLoc>(location))
          last[name.getName()] = &op;
        return WalkResult::advance();
      });
  }

  /// Writes the module's attribute `graph.cuts`.
  LogicalResult place() {
    SmallVector<Attribute> units;
    Operation *before = nullptr;
    StringRef nameBefore;
    for (const std::string &name : spec.pipeline.cuts) {
      Operation *op = last.lookup(StringAttr::get(function.getContext(), name));
      if (!op)
        return refuseUnknown(name);
      if (before && !before->isBeforeInBlock(op))
        return refuse("pipeline.cuts", before == op ? "'" + nameBefore + "' and '" + name + "' cut at the same place"
                                                    : "'" + nameBefore + "' precedes '" + name +
                                                          "' in pipeline.cuts, but not in the model");
      if (!op->getNextNode() || isa<func::ReturnOp>(op->getNextNode()))
        return refuse("pipeline.cuts", "no operation follows '" + Twine(name) + "', so the last stage would be empty");
      units.push_back(cutAfter(op));
      before = op;
      nameBefore = name;
    }
    if (!units.empty())
      function->getParentOfType<ModuleOp>()->setAttr(kCuts, ArrayAttr::get(function.getContext(), units));
    return success();
  }

  LogicalResult refuse(StringRef key, const Twine &text) {
    diagnostics.error(findPlace(spec, key).value_or(spec.path), text);
    return failure();
  }

private:
  LogicalResult refuseUnknown(StringRef name) {
    SmallVector<StringRef> known;
    for (auto &[other, op] : last)
      known.push_back(other.getValue());
    std::optional<StringRef> nearest = findNearest(name, known);
    return refuse("pipeline.cuts", "pipeline.cuts names '" + name +
                                       "', which is not the name of a computed tensor or node" +
                                       (nearest ? "; did you mean '" + *nearest + "'?" : Twine()).str());
  }

  /// The unit that ends with the op: its own, or the first half of it.
  ModelUnitAttr cutAfter(Operation *op) {
    ModelUnitAttr unit = getUnit(op);
    bool isAfter = false;
    SmallVector<Operation *> halves[2];
    for (Operation &other : function.front().without_terminator()) {
      if (getUnit(&other) == unit)
        halves[isAfter].push_back(&other);
      isAfter |= &other == op;
    }
    if (halves[1].empty())
      return unit;
    auto nameHalf = [&](StringRef suffix) {
      auto className = StringAttr::get(unit.getContext(), unit.getClassName().getValue() + suffix);
      return ModelUnitAttr::get(unit.getContext(), className, unit.getInstance());
    };
    ModelUnitAttr names[2] = {nameHalf("_a"), nameHalf("_b")};
    for (int half : {0, 1})
      for (Operation *member : halves[half])
        member->setAttr(kUnit, names[half]);
    return names[0];
  }

  func::FuncOp function;
  const Spec &spec;
  Diagnostics &diagnostics;
  llvm::MapVector<StringAttr, Operation *> last; ///< the last op of each tensor's or node's name
};

} // namespace

const PipelineSchedule &xlc::getSchedule(const Spec &spec) {
  return *findPipelineSchedule(spec.pp > 1 ? StringRef(spec.pipeline.schedule) : "1f1b");
}

PipelineShape xlc::getPipelineShape(const Spec &spec) { return {spec.pp, spec.chunksPerRank(), spec.microBatches()}; }

/// What fits into so many units, as far as anything does: fewer chunks, fewer ranks, or one chunk for each.
static std::string adviseStages(const Spec &spec, int64_t units) {
  const PipelineSchedule &schedule = getSchedule(spec);
  int64_t chunks = units / spec.pp, ranks = units / spec.chunksPerRank();
  SmallVector<std::string> advice;
  if (spec.chunksPerRank() > 1 && schedule.mostChunks == 0 && chunks >= schedule.leastChunks)
    advice.push_back("pipeline.chunks of at most " + std::to_string(chunks));
  if (ranks > 1)
    advice.push_back("pp of at most " + std::to_string(ranks));
  else if (spec.chunksPerRank() > 1 && units > 1)
    advice.push_back("schedule 1f1b with pp of at most " + std::to_string(units));
  if (advice.empty())
    return "pipeline.cuts inside units would work";
  return llvm::join(advice, " or ") + " would work, or pipeline.cuts inside units";
}

LogicalResult xlc::placeCuts(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  auto function = findForward(module);
  if (spec.pp == 1 || !function)
    return success();
  Cuts cuts(function, spec, diagnostics);
  PipelineShape shape = getPipelineShape(spec);
  if (std::optional<std::string> misfit = findMisfit(getSchedule(spec), shape))
    return cuts.refuse(spec.where("pipeline.schedule").line ? "pipeline.schedule" : "pipeline.chunks", *misfit);
  std::string stages = "pp = " + std::to_string(spec.pp);
  if (shape.chunksPerRank > 1)
    stages += " with " + std::to_string(shape.chunksPerRank) + " chunks each";
  if (int64_t count = spec.pipeline.cuts.size(); count > 0 && count + 1 != shape.chunks())
    return cuts.refuse("pipeline.cuts", "pipeline.cuts has length " + Twine(count) + ", but " + stages + " needs " +
                                            Twine(shape.chunks() - 1));
  if (failed(cuts.place()))
    return failure();
  llvm::MapVector<Attribute, int> units;
  for (Operation &op : function.front().without_terminator())
    ++units[getUnit(&op)];
  if ((int64_t)units.size() < shape.chunks())
    return cuts.refuse("pp", stages + " needs " + Twine(shape.chunks()) + " units, but the model has " +
                                 Twine(units.size()) + "; " + adviseStages(spec, units.size()));
  return success();
}

LogicalResult xlc::checkCuts(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  func::FuncOp function = Entry::find(module, Purpose::train).getFunction();
  auto cuts = module->getAttrOfType<ArrayAttr>(kCuts);
  if (!function || !cuts)
    return success();
  DenseSet<Attribute> present;
  for (Operation &op : function.front().without_terminator())
    if (getRole(&op) == Role::F)
      present.insert(getUnit(&op));
  for (auto [number, unit] : llvm::enumerate(cuts))
    if (!present.contains(unit))
      return Cuts(function, spec, diagnostics)
          .refuse("pipeline.cuts", "with tp = " + Twine(spec.tp) +
                                       ", no operation is left directly before the cut at '" +
                                       spec.pipeline.cuts[number] + "'; cut at another tensor");
  return success();
}
