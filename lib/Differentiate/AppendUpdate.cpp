// The computations after the last micro-batch of a step, as functions of the `graph` dialect: @scalars turns the summed
// loss, count and squares into the loss, the norm and one factor on all gradients; @update updates the parameters.
//
// Backward ran on sum / nominal count. The mean over the counted targets is nominal / actual times that, so the factor
// is nominal/actual * min(1, clip / (norm + 1e-6)), where norm is that of the true gradient (the 1e-6 is PyTorch's,
// torch.nn.utils.clip_grad_norm_). If the loss or the norm is not finite, the step and all later ones are skipped. Loss
// and norm are equal on all ranks, so all ranks make the same decision.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Differentiate/Differentiate.h"

namespace xlc {
#define GEN_PASS_DEF_APPENDUPDATEPASS
#include "xlc/Differentiate/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

struct Parameter {
  StringAttr name;
  RankedTensorType type;
  int64_t group;
};

SmallVector<Parameter> trainable(func::FuncOp function) {
  SmallVector<Parameter> parameters;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (Argument argument(function, i); argument.isTrained())
      parameters.push_back({argument.getParameter(), cast<RankedTensorType>(function.getArgument(i).getType()),
                            argument.getGroup().value_or(0)});
  return parameters;
}

/// @scalars(sum: f32, count, sum_squares: f64, applied: f32) -> (loss, norm, scale, applied: f32). A count is a number
/// of targets, i64, or a sum of their weights. The argument `applied` is the result of the step before.
void buildScalars(ModuleOp module, OpBuilder &builder, Type countType, int64_t nominal, FloatAttr clip) {
  Location loc = NameLoc::get(builder.getStringAttr("scalars"));
  auto f32 = RankedTensorType::get({}, builder.getF32Type()), f64 = RankedTensorType::get({}, builder.getF64Type());
  auto function = func::FuncOp::create(builder, loc, kScalars,
                                       builder.getFunctionType({f32, countType, f64, f32}, {f32, f32, f32, f32}));
  OpBuilder body = OpBuilder::atBlockEnd(function.addEntryBlock());
  auto constant = [&](double value) -> Value {
    return ConstantOp::create(body, loc, f64, DenseElementsAttr::get(f64, builder.getF64FloatAttr(value)));
  };
  Value sum = CastOp::create(body, loc, f64, function.getArgument(0));
  Value count = CastOp::create(body, loc, f64, function.getArgument(1));
  Value loss = DivOp::create(body, loc, f64, sum, count);
  Value ratio = DivOp::create(body, loc, f64, constant(nominal), count);
  Value norm = MulOp::create(body, loc, f64, SqrtOp::create(body, loc, f64, function.getArgument(2)), ratio);
  Value scale = ratio;
  if (clip) {
    Value reachable = AddOp::create(body, loc, f64, norm, constant(1e-6));
    Value factor = DivOp::create(body, loc, f64, constant(clip.getValueAsDouble()), reachable);
    scale = MulOp::create(body, loc, f64, ratio, MinOp::create(body, loc, f64, factor, constant(1)));
  }
  auto narrow = [&](Value value) -> Value { return CastOp::create(body, loc, f32, value); };
  SmallVector<Value> results{narrow(loss), narrow(norm), narrow(scale)};
  auto zero = [&](Value x) -> Value {
    return SubOp::create(body, loc, f32, x, x);
  }; // where x is finite, else no number
  Value doubt = AddOp::create(body, loc, f32, zero(results[0]), zero(results[1]));
  Value isSkipped = IsNanOp::create(body, loc, f32.clone(body.getI1Type()), doubt);
  Value none = ConstantOp::create(body, loc, f32, DenseElementsAttr::get(f32, body.getF32FloatAttr(0)));
  results.push_back(SelectOp::create(body, loc, f32, isSkipped, none, function.getArgument(kAppliedArgument)));
  func::ReturnOp::create(body, loc, results);
}

/// @update(params, grads, states, scalars of each group) -> (params, states), all parameters whole.
void buildUpdate(ModuleOp module, OpBuilder &builder, ArrayRef<Parameter> parameters, ArrayRef<OptimizerGroup> groups) {
  Location loc = NameLoc::get(builder.getStringAttr("update"));
  SmallVector<Type> inputs, results;
  SmallVector<std::pair<StringRef, Attribute>> labels; // of arguments, then of results
  auto add = [&](SmallVector<Type> &types, Type type, StringRef key, Attribute value) {
    types.push_back(type);
    labels.emplace_back(key, value);
  };
  auto state = [&](const Parameter &p, StringRef name) {
    return builder.getStringAttr(nameState(p.name.getValue(), name));
  };
  auto statesOf = [&](const Parameter &p) { return groups[p.group].getStateNames(); };
  for (const Parameter &p : parameters)
    add(inputs, p.type, kParam, p.name);
  for (const Parameter &p : parameters)
    add(inputs, p.type, kGrad, p.name);
  for (const Parameter &p : parameters)
    for (StringRef name : statesOf(p))
      add(inputs, p.type, kState, state(p, name));
  for (int64_t i = 0; i < (int64_t)groups.size(); ++i)
    add(inputs, RankedTensorType::get({runtime::kGroupNumbers}, builder.getF32Type()), kGroup,
        builder.getI64IntegerAttr(i));
  for (const Parameter &p : parameters)
    add(results, p.type, kParam, p.name);
  for (const Parameter &p : parameters)
    for (StringRef name : statesOf(p))
      add(results, p.type, kState, state(p, name));

  auto function = func::FuncOp::create(builder, loc, kUpdate, builder.getFunctionType(inputs, results));
  SignatureAttributes attributes(function);
  for (auto [i, label] : llvm::enumerate(labels))
    if (i < inputs.size())
      attributes.setArgument(i, label.first, label.second);
    else
      attributes.setResult(i - inputs.size(), label.first, label.second);

  OpBuilder body = OpBuilder::atBlockEnd(function.addEntryBlock());
  auto arguments = function.getArguments();
  size_t count = parameters.size(), nextState = 2 * count, firstScalars = inputs.size() - groups.size();
  SmallVector<Value> newParameters, newStates;
  for (auto [i, p] : llvm::enumerate(parameters)) {
    SmallVector<Value> states;
    for (size_t k = 0; k < statesOf(p).size(); ++k)
      states.push_back(arguments[nextState++]);
    OptimizerStepOp op = groups[p.group].createStep(body, NameLoc::get(p.name), arguments[i], arguments[count + i],
                                                    arguments[firstScalars + p.group], states);
    op->setAttr(kRole, RoleAttr::get(builder.getContext(), Role::U));
    newParameters.push_back(op.getNewParam());
    llvm::append_range(newStates, op.getNewStates());
  }
  llvm::append_range(newParameters, newStates);
  func::ReturnOp::create(body, loc, newParameters);
}

struct AppendUpdatePass : xlc::impl::AppendUpdatePassBase<AppendUpdatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Entry entry = Entry::find(module, Purpose::train);
    bool hasGroups = module->hasAttr(kGroups);
    auto nominal = module->getAttrOfType<IntegerAttr>(kNominalCount);
    if (!entry || !hasGroups || !nominal) {
      module.emitError() << "the update needs a training entry and the module attributes " << kGroups << " and "
                         << kNominalCount;
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Type countType = entry.getCount().get().getType();
    buildScalars(module, builder, countType, nominal.getInt(), module->getAttrOfType<FloatAttr>(kClipNorm));
    buildUpdate(module, builder, trainable(entry.getFunction()), OptimizerGroup::of(module));
  }
};

} // namespace
