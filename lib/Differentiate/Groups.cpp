// Writes the optimizer of the spec into the module: the hyper-parameters of each group, and the group of each
// parameter. Group 0 is the optimizer's own; group i + 1 is group i of the spec.
#include "xlc/Dialect/Graph/Schedule.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Spec/SpecPlace.h"

using namespace mlir;
using namespace xlc;

namespace {

/// With nothing to train a program would do nothing, and say nothing.
LogicalResult checkTrainable(func::FuncOp forward, const Spec &spec, Diagnostics &diagnostics) {
  std::optional<std::string> place = findPlace(spec, "trainable");
  std::string example;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = graph::Argument(forward, i).getParameter();
    if (!name || graph::Argument(forward, i).isBuffer())
      continue;
    if (!graph::Argument(forward, i).isFrozen())
      return success();
    example = name.getValue().str();
  }
  StringRef model = cast<ModuleOp>(forward->getParentOp()).getName().value_or("the model");
  std::string where = model.str(), text;
  if (example.empty())
    text = "there is nothing to train: the loss does not depend on a float initializer of the file; was it exported "
           "with export_params=False?";
  else if (!place)
    text = "there is nothing to train: all parameters are frozen, or the loss does not depend on them; trainable: [\"" +
           example + "\"] would train a parameter that the file freezes";
  else
    where = *place, text = "trainable trains nothing: its patterns exclude every parameter; [\"*\", \"!" + example +
                           "\"] would train all but one";
  diagnostics.error(where, text);
  return failure();
}

} // namespace

LogicalResult xlc::assignOptimizerGroups(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  Builder builder(module.getContext());
  const OptimizerSpec &optimizer = spec.optimizer;
  std::optional<graph::OptimizerGroup::Average> average;
  if (spec.ema)
    average = {spec.ema->decay, spec.ema->start};
  auto describe = [&](const HyperParameters &own) -> Attribute {
    return graph::OptimizerGroup::get(module.getContext(), *optimizer.rule, own, optimizer.numbers, optimizer.clipValue,
                                      average);
  };
  SmallVector<Attribute> groups{describe({})};
  for (const OptimizerGroupSpec &group : optimizer.groups)
    groups.push_back(describe(group.numbers));
  module->setAttr(graph::kGroups, builder.getArrayAttr(groups));
  if (spec.optimizer.clipNorm)
    module->setAttr(graph::kClipNorm, builder.getF64FloatAttr(*spec.optimizer.clipNorm));
  if (spec.schedule)
    module->setAttr(graph::kSchedule, graph::toAttribute(*spec.schedule, module.getContext()));

  auto forward = graph::findForward(module);
  if (failed(checkTrainable(forward, spec, diagnostics)))
    return failure();
  graph::SignatureAttributes attributes(forward);
  SmallVector<bool> isUsed(spec.optimizer.groups.size(), false);
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = graph::Argument(forward, i).getParameter();
    if (!name)
      continue;
    int64_t index = 0;
    for (auto [k, group] : llvm::enumerate(spec.optimizer.groups))
      if (matchesPatterns(name.getValue(), group.match)) {
        index = k + 1;
        isUsed[k] = true;
      }
    attributes.setArgument(i, graph::kGroup, builder.getI64IntegerAttr(index));
  }
  bool isFine = true;
  for (auto [group, used] : llvm::zip(spec.optimizer.groups, isUsed))
    if (!used) {
      diagnostics.error(formatPlace(spec, group.location), "optimizer group does not match a parameter");
      isFine = false;
    }
  return success(isFine);
}
