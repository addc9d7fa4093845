// See Update.h.
#include "xlc/Dialect/Graph/Update.h"

#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

constexpr StringLiteral kKind = "kind", kClipValue = "clip_value", kAverageDecay = "ema_decay",
                        kAverageStart = "ema_start";

/// A number of the step as one value for each element of `like`.
Value fit(Formula &f, Value x, Value like) { return x.getType() == like.getType() ? x : f.broadcast(x, like); }

template <Value (Formula::*op)(Value, Value)> Term combine(Term x, Term y) {
  bool isWider = typeOf(x.value).getNumElements() < typeOf(y.value).getNumElements();
  Value like = isWider ? y.value : x.value;
  Formula &f = *x.formula;
  return {&f, (f.*op)(fit(f, x.value, like), fit(f, y.value, like))};
}

} // namespace

Term graph::operator+(Term x, Term y) { return combine<&Formula::add>(x, y); }
Term graph::operator-(Term x, Term y) { return combine<&Formula::sub>(x, y); }
Term graph::operator*(Term x, Term y) { return combine<&Formula::mul>(x, y); }
Term graph::operator/(Term x, Term y) { return combine<&Formula::div>(x, y); }
Term graph::operator+(Term x, double y) { return x + Term{x.formula, x.formula->number(y, x.value)}; }
Term graph::operator*(Term x, double y) { return x * Term{x.formula, x.formula->number(y, x.value)}; }
Term graph::operator-(double x, Term y) { return Term{y.formula, y.formula->number(x, y.value)} - y; }
Term graph::sqrt(Term x) { return {x.formula, x.formula->sqrt(x.value)}; }
Term graph::sign(Term x) { return {x.formula, x.formula->sign(x.value)}; }
Term graph::clamp(Term x, double bound) { return {x.formula, x.formula->max(x.formula->min(x.value, bound), -bound)}; }

Replaced &Replaced::operator=(Term made) {
  term.value = term.formula->select(isApplied, made.value, term.value);
  return *this;
}

Update::Update(Formula &formula, OptimizerStepOp op)
    : op(op), formula(&formula), param(replaced(op.getParam())), gradient{&formula, op.getGrad()},
      rate(getNumber(StepNumber::LearningRate)) {
  gradient = gradient * getNumber(StepNumber::GradientFactor);
  if (std::optional<double> bound = OptimizerGroup(op->getAttrDictionary()).getClipValue())
    gradient = clamp(gradient, *bound);
  for (Value state : op.getStates())
    states.push_back(replaced(state));
  if (OptimizerGroup(op->getAttrDictionary()).getAverage())
    average = states.pop_back_val();
}

void Update::moveAverage() {
  if (!average)
    return;
  Term decay = getNumber(StepNumber::AverageDecay);
  *average = *average * decay + param * (1.0 - decay);
}

Replaced Update::replaced(Value old) const {
  Value applied = getNumber(StepNumber::Applied).value, isApplied = formula->isEqual(applied, 1);
  return {{formula, old}, formula->broadcast(isApplied, old)};
}

Term Update::getNumber(StepNumber which) const {
  RankedTensorType type = typeOf(op.getScalars()).clone({1});
  Value one = SliceOp::create(formula->b, formula->loc, type, op.getScalars(), {runtime::indexInGroup(which)}, {1});
  return {formula, formula->convert(one, typeOf(op.getParam()).getElementType())};
}

double Update::get(HyperParameter which) const { return OptimizerGroup(op->getAttrDictionary()).get(which); }

SmallVector<Value, 3> graph::expandUpdate(Formula formula, OptimizerStepOp op) {
  Update update(formula, op);
  op.getRule().formula(update);
  update.moveAverage();
  SmallVector<Value, 3> results{update.param.getValue()};
  for (const Replaced &state : update.states)
    results.push_back(state.getValue());
  if (update.average)
    results.push_back(update.average->getValue());
  return results;
}

DictionaryAttr OptimizerGroup::get(MLIRContext *context, const Optimizer &rule, const HyperParameters &group,
                                   const HyperParameters &own, std::optional<double> clipValue,
                                   std::optional<Average> average) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries{builder.getNamedAttr(kKind, builder.getStringAttr(rule.name))};
  for (HyperParameter which : kHyperParameters)
    entries.push_back(builder.getNamedAttr(getName(which), builder.getF64FloatAttr(rule.get(which, group, own))));
  if (clipValue)
    entries.push_back(builder.getNamedAttr(kClipValue, builder.getF64FloatAttr(*clipValue)));
  if (average) {
    entries.push_back(builder.getNamedAttr(kAverageDecay, builder.getF64FloatAttr(average->decay)));
    entries.push_back(builder.getNamedAttr(kAverageStart, builder.getI64IntegerAttr(average->start)));
  }
  return builder.getDictionaryAttr(entries);
}

LogicalResult OptimizerGroup::verify(function_ref<InFlightDiagnostic()> emitError, Attribute attribute) {
  auto group = dyn_cast<DictionaryAttr>(attribute);
  auto kind = group ? group.getAs<StringAttr>(kKind) : StringAttr();
  if (!kind || !findOptimizer(kind.getValue()))
    return emitError() << "a group must have the name of an optimizer as its " << kKind;
  for (HyperParameter which : kHyperParameters)
    if (Attribute number = group.get(getName(which)); number && !isa<FloatAttr>(number))
      return emitError() << "'" << getName(which) << "' must be a float";
  if (Attribute bound = group.get(kClipValue))
    if (auto number = dyn_cast<FloatAttr>(bound); !number || !(number.getValueAsDouble() > 0))
      return emitError() << "'" << kClipValue << "' must be a float above 0";
  Attribute decay = group.get(kAverageDecay), start = group.get(kAverageStart);
  if (bool(decay) != bool(start) || (decay && (!isa<FloatAttr>(decay) || !isa<IntegerAttr>(start))))
    return emitError() << "an average of the parameters requires a float '" << kAverageDecay << "' and an integer '"
                       << kAverageStart << "'";
  return success();
}

std::vector<OptimizerGroup> OptimizerGroup::of(ModuleOp module) {
  std::vector<OptimizerGroup> groups;
  if (auto attributes = module->getAttrOfType<ArrayAttr>(kGroups))
    for (auto each : attributes.getAsRange<DictionaryAttr>())
      groups.emplace_back(each);
  return groups;
}

const Optimizer &OptimizerGroup::getRule() const {
  return *findOptimizer(attributes.getAs<StringAttr>(kKind).getValue());
}

double OptimizerGroup::get(HyperParameter which) const {
  auto value = attributes.getAs<FloatAttr>(getName(which));
  return value ? value.getValueAsDouble() : 0;
}

std::optional<double> OptimizerGroup::getClipValue() const {
  auto bound = attributes.getAs<FloatAttr>(kClipValue);
  return bound ? std::optional(bound.getValueAsDouble()) : std::nullopt;
}

std::optional<OptimizerGroup::Average> OptimizerGroup::getAverage() const {
  auto decay = attributes.getAs<FloatAttr>(kAverageDecay);
  auto start = attributes.getAs<IntegerAttr>(kAverageStart);
  return decay && start ? std::optional(Average{decay.getValueAsDouble(), start.getInt()}) : std::nullopt;
}

SmallVector<StringRef> OptimizerGroup::getStateNames() const {
  SmallVector<StringRef> names;
  for (const Optimizer::State &state : getRule().states)
    if (!state.unlessZero || get(*state.unlessZero) != 0)
      names.push_back(state.name);
  if (getAverage())
    names.push_back(kAverage);
  return names;
}

OptimizerStepOp OptimizerGroup::createStep(OpBuilder &builder, Location loc, Value param, Value grad, Value scalars,
                                           ValueRange states) const {
  OperationState state(loc, OptimizerStepOp::getOperationName());
  SmallVector<Value> operands{param, grad, scalars};
  llvm::append_range(operands, states);
  state.addOperands(operands);
  state.addTypes(param.getType());
  state.addTypes(states.getTypes());
  state.addAttribute(kKind, attributes.get(kKind));
  for (HyperParameter which : kHyperParameters)
    if (Attribute value = attributes.get(getName(which)); value && which != HyperParameter::LearningRate)
      state.addAttribute(getName(which), value);
  for (StringRef name : {kClipValue, kAverageDecay, kAverageStart})
    if (Attribute value = attributes.get(name))
      state.addAttribute(name, value);
  return cast<OptimizerStepOp>(builder.create(state));
}

SmallVector<Value> OptimizerGroup::createRoundedStep(OpBuilder &builder, Location loc, Value param, Value grad,
                                                     Value scalars, ValueRange states, Value bits) const {
  auto convert = [&](Value value, Type element) -> Value {
    RankedTensorType type = typeOf(value).clone(element);
    return value.getType() == type ? value : CastOp::create(builder, loc, type, value);
  };
  auto widen = [&](Value value) { return convert(value, builder.getF32Type()); };
  OptimizerStepOp step =
      createStep(builder, loc, widen(param), widen(grad), scalars, llvm::map_to_vector(states, widen));
  SmallVector<Value> results, before{param};
  llvm::append_range(before, states);
  for (auto [draw, old, made] : llvm::enumerate(before, step.getResults())) {
    Type element = typeOf(old).getElementType();
    results.push_back(bits && isNarrow(element)
                          ? StochasticCastOp::create(builder, loc, old.getType(), made, bits, draw).getResult()
                          : convert(made, element));
  }
  return results;
}

void StepNumberOp::build(OpBuilder &builder, OperationState &state, runtime::StepNumber number) {
  const runtime::StepNumberRow &row = runtime::rowOf(number);
  bool isFloat = row.type == runtime::NumberType::F32;
  Type element = isFloat ? Type(builder.getF32Type()) : Type(builder.getI64Type());
  build(builder, state, RankedTensorType::get({}, element), StringRef(row.name));
}

LogicalResult StepNumberOp::verify() {
  std::optional<runtime::StepNumber> number = runtime::findStepNumber(getNumber());
  if (!number || runtime::rowOf(*number).owner != runtime::NumberOf::Step) {
    InFlightDiagnostic error = emitOpError() << "'" << getNumber() << "' is not a per-step number; choose one of ";
    llvm::ListSeparator comma;
    for (const runtime::StepNumberRow &row : runtime::kStepNumbers)
      if (row.owner == runtime::NumberOf::Step)
        error << StringRef(comma) << StringRef(row.name);
    return error;
  }
  bool isFloat = runtime::rowOf(*number).type == runtime::NumberType::F32;
  RankedTensorType type = typeOf(getY());
  if (type.getRank() != 0 || type.getElementType().isF32() != isFloat)
    return emitOpError() << "'" << getNumber() << "' must be a single " << (isFloat ? "f32" : "i64") << ", not "
                         << type;
  return success();
}
