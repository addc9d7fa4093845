// Reads the model from @micro_batch and @update, and draws the data of a run.
#include "Model.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Schedule.h"
#include "xlc/Differentiate/Differentiate.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

static Model::Input readInput(func::FuncOp function, unsigned i, StringRef name) {
  Model::Input input{name.str(), cast<RankedTensorType>(function.getArgumentTypes()[i]), "", 2, std::nullopt};
  graph::Argument argument(function, i);
  if (StringAttr part = argument.getWholeOf())
    input.wholeOf = part.str();
  input.isSampleNumber = argument.isSampleNumber();
  input.limit = argument.getLimit().value_or(input.limit);
  input.ignore = argument.getIgnored();
  return input;
}

FailureOr<Model> Model::read(ModuleOp module) {
  Model model;
  model.microBatch = graph::Entry::find(module, graph::Purpose::train).getFunction();
  model.evaluation = graph::Entry::find(module, graph::Purpose::evaluate).getFunction();
  model.scalars = graph::findScalars(module);
  model.update = graph::findUpdate(module);
  model.groups = graph::OptimizerGroup::of(module);
  model.schedule = runtime::scheduleOfVerification(graph::scheduleOf(module));
  if (!model.microBatch || !model.scalars || !model.update || model.groups.empty())
    return module.emitError()
           << "verification needs a training entry, the functions @scalars and @update, and the attribute "
           << graph::kGroups;
  for (unsigned i = 0; i < model.microBatch.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(model.microBatch.getArgumentTypes()[i]);
    if (auto name = graph::Argument(model.microBatch, i).getParameter())
      model.parameters.push_back({name.str(),
                                  Shape(type.getShape()),
                                  graph::Argument(model.microBatch, i).isFrozen(),
                                  graph::Argument(model.microBatch, i).isBuffer(),
                                  {}});
    else if (auto name = graph::Argument(model.microBatch, i).getInput())
      model.inputs.push_back(readInput(model.microBatch, i, name));
  }
  for (unsigned i = 0; model.evaluation && i < model.evaluation.getNumArguments(); ++i)
    if (auto name = graph::Argument(model.evaluation, i).getInput(); name && !model.findInput(name))
      model.inputs.push_back(readInput(model.evaluation, i, name));
  for (unsigned i = 0; i < model.update.getNumArguments(); ++i)
    if (graph::Argument what(model.update, i); what.getState())
      for (Parameter &parameter : model.parameters)
        if (what.getOwner() == parameter.name)
          parameter.states.push_back(what.getState().str());
  return model;
}

const Model::Parameter *Model::findParameter(StringRef name) const {
  auto it = llvm::find_if(parameters, [&](const Parameter &parameter) { return parameter.name == name; });
  return it == parameters.end() ? nullptr : &*it;
}

const Model::Input *Model::findInput(StringRef name) const {
  auto it = llvm::find_if(inputs, [&](const Input &input) { return input.name == name; });
  return it == inputs.end() ? nullptr : &*it;
}

namespace xlc::interpret {

/// The elements of `shape` from row `first` on.
static Datum<double> takeRows(const Datum<double> &all, ArrayRef<int64_t> shape, int64_t first) {
  return std::visit(
      [&](const auto &tensor) -> Datum<double> {
        auto taken = std::decay_t<decltype(tensor)>(shape);
        std::copy_n(tensor.elements.begin() + first * countOf(shape.drop_front()), countOf(shape),
                    taken.elements.begin());
        return taken;
      },
      all);
}

template <class E> Datum<E> Source<E>::rows(const Model::Input &input, int64_t step, int64_t firstRow) const {
  ArrayRef<int64_t> shape = input.type.getShape();
  if (input.isSampleNumber) {
    Integers numbers(shape);
    std::iota(numbers.elements.begin(), numbers.elements.end(), firstRow);
    return numbers;
  }
  if constexpr (std::is_same_v<E, double>)
    if (given)
      return takeRows(given->rows.at(input.wholeOf.empty() ? input.name : input.wholeOf), shape,
                      (step - 1) * given->globalBatch + firstRow);
  std::string key = (input.wholeOf.empty() ? input.name : input.wholeOf) + "/" + std::to_string(step);
  int64_t first = firstRow * countOf(shape.drop_front());
  if (!input.type.getElementType().isInteger())
    return randomTensor<E>(shape, key, seed, first);
  Integers ids = randomIntegers(shape, key, seed, input.limit, first);
  if (!input.ignore)
    return ids;
  // Every fourth place is not counted, so that ranks and micro-batches count differently. The first two of a step are,
  // the second since a shifted loss does not see the first: a mean over nothing is undefined.
  Integers draws = randomIntegers(shape, key + "/ignore", seed, 4, first);
  for (auto [i, id] : llvm::enumerate(ids.elements))
    id = draws.elements[i] == 0 && first + int64_t(i) >= 2 ? *input.ignore : id;
  return ids;
}
/// Two thirds of them, and at least two: so that some ranks have none, and some a part.
template <class E>
Datum<E> Source<E>::rowsOfEvaluation(const Model::Input &input, int64_t step, int64_t firstRow, int64_t all) const {
  constexpr int64_t apart = int64_t(1) << 32; // from the steps of training
  if (!input.isSampleNumber)
    return Source{seed}.rows(input, apart + step, firstRow);
  Integers numbers(input.type.getShape());
  for (auto [i, number] : llvm::enumerate(numbers.elements))
    number =
        firstRow + int64_t(i) < std::max<int64_t>(std::min<int64_t>(all, 2), all * 2 / 3) ? firstRow + int64_t(i) : -1;
  return numbers;
}
template struct Source<double>;
template struct Source<float>;
template struct Source<Field>;

template <class E>
Tensor<E> groupNumbers(const graph::OptimizerGroup &group, const runtime::RateSchedule &schedule, int64_t t) {
  using runtime::StepNumber;
  double beta1 = group.get(HyperParameter::Beta1), beta2 = group.get(HyperParameter::Beta2);
  Tensor<E> numbers(ArrayRef<int64_t>{runtime::kGroupNumbers});
  auto set = [&](StepNumber which, double value) {
    numbers.elements[runtime::indexInGroup(which)] = fromDouble<E>(value);
  };
  set(StepNumber::LearningRate, runtime::rateOf(schedule, group.get(HyperParameter::LearningRate), t - 1));
  set(StepNumber::Correction1, 1 - std::pow(beta1, t));
  set(StepNumber::Correction2, std::sqrt(1 - std::pow(beta2, t)));
  set(StepNumber::Applied, 1);
  if (auto average = group.getAverage())
    set(StepNumber::AverageDecay, t > average->start ? average->decay : 0);
  return numbers;
}
template Tensor<double> groupNumbers(const graph::OptimizerGroup &, const runtime::RateSchedule &, int64_t);
template Tensor<float> groupNumbers(const graph::OptimizerGroup &, const runtime::RateSchedule &, int64_t);
template Tensor<Field> groupNumbers(const graph::OptimizerGroup &, const runtime::RateSchedule &, int64_t);

} // namespace xlc::interpret
