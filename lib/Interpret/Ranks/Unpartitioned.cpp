// The unpartitioned program: the reference for every partitioned one.
//
// One rank has the whole global batch: @micro_batch runs for micro-batch 0 of rank 0, 1, ..., then
// micro-batch 1, and so on; losses, counts and contributions add up; @scalars and @update end the step. Buffers are
// those of the rank whose micro-batch it is.
#include "Model.h"
#include "Sharded.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Differentiate/Differentiate.h"
#include <deque>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {
template <class E> class Unpartitioned : public Reference<E> {
public:
  Unpartitioned(const Model &model, const Source<E> &source, Cut cut, const Options &options)
      : model(model), source(source), cut(cut), options(options) {
    for (const Model::Parameter &parameter : model.parameters) {
      if (parameter.isBuffer)
        for (int64_t rank = 0; rank < cut.ranks; ++rank)
          buffers[rank][parameter.name] = source.parameter(parameter);
      else
        values[parameter.name] = source.parameter(parameter);
      for (const std::string &state : parameter.states)
        values[state] = graph::isAverage(state) ? source.parameter(parameter) : Tensor<E>(parameter.shape);
    }
  }

  LogicalResult step(int64_t t) override {
    options.clock.seed = source.seed, options.clock.step = options.clock.applied = t;
    sums.clear();
    for (int64_t microBatch = 0; microBatch < cut.microBatches; ++microBatch)
      for (int64_t rank = 0; rank < cut.ranks; ++rank)
        if (failed(accumulate(t, rank, microBatch)))
          return failure();
    LogicalResult outcome = failure(failed(computeScalars()) || failed(update(t)));
    sums.clear();
    return outcome;
  }

  LogicalResult forEachHeld(Runner<E>::Visit visit) override {
    int64_t ranks = std::max<int64_t>(1, buffers.size()); // without buffers all hold the same
    for (int64_t rank = 0; rank < ranks; ++rank) {
      for (const auto &[name, value] : values)
        visit(rank, name, value);
      for (const auto &[name, value] : valuesOf(rank))
        visit(rank, name, value);
    }
    return success();
  }

  LogicalResult evaluate(int64_t t, Runner<E>::Visit visit) override {
    Values<E> sums;
    for (int64_t microBatch = 0; microBatch < cut.microBatches; ++microBatch)
      for (int64_t rank = 0; rank < cut.ranks; ++rank) {
        SmallVector<Datum<E>> results;
        auto rows = [&](const Model::Input &input) {
          return source.rowsOfEvaluation(input, t, cut.firstRow(input, rank, microBatch), cut.allRows(input));
        };
        if (failed(call(model.evaluation, rank, rows, results)))
          return failure();
        for (auto [i, result] : llvm::enumerate(results)) {
          graph::Result what(model.evaluation, i);
          if (StringAttr output = what.getOutput()) {
            visit(rank, nameOfPart(output, microBatch, rank), result);
            continue;
          }
          std::string name = "@" + what.getSum().str();
          auto [it, isFirst] = sums.try_emplace(name, result);
          if (!isFirst)
            addTo<E>(it->second, result);
        }
      }
    for (const auto &[name, value] : sums)
      visit(0, name, value);
    return success();
  }

  const Datum<E> *find(int64_t row, const std::string &name) const override {
    for (const Values<E> *held : {&values, &valuesOf(row)})
      if (auto it = held->find(name); it != held->end())
        return &it->second;
    return nullptr;
  }

  /// Those of the rank alone: its buffers. Rank -1: those of all.
  const Values<E> &valuesOf(int64_t row) const override {
    static const Values<E> none;
    auto it = buffers.find(row);
    return row < 0 ? values : it == buffers.end() ? none : it->second;
  }

private:
  /// Runs an entry once, with a rank's buffers.
  LogicalResult call(func::FuncOp function, int64_t rank, llvm::function_ref<Datum<E>(const Model::Input &)> rowsOf,
                     SmallVectorImpl<Datum<E>> &results) {
    std::deque<Datum<E>> rows;
    SmallVector<const Datum<E> *> arguments;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto name = graph::Argument(function, i).getParameter())
        arguments.push_back(graph::Argument(function, i).isBuffer() ? &buffers[rank][name.str()] : &values[name.str()]);
      else if (auto name = graph::Argument(function, i).getInput())
        arguments.push_back(&rows.emplace_back(rowsOf(*model.findInput(name))));
    return runMicroBatch<E>(function, arguments, options, results);
  }

  /// Runs @micro_batch once and adds its results to `sums`.
  LogicalResult accumulate(int64_t t, int64_t rank, int64_t microBatch) {
    func::FuncOp function = model.microBatch;
    SmallVector<Datum<E>> results;
    auto rows = [&](const Model::Input &input) { return source.rows(input, t, cut.firstRow(input, rank, microBatch)); };
    if (failed(call(function, rank, rows, results)))
      return failure();
    for (auto [i, result] : llvm::enumerate(results)) {
      if (auto buffer = graph::Result(function, i).getBuffer()) {
        buffers[rank][buffer.str()] = std::move(result);
        continue;
      }
      StringAttr gradient = graph::Result(function, i).getGradient();
      StringRef name = gradient ? gradient.getValue() : i == 0 ? "@loss_sum" : "@loss_count";
      add(name.str(), std::move(result), function.getResultTypes()[i]);
    }
    return success();
  }

  void add(const std::string &name, Datum<E> &&term, Type type) {
    auto [it, isFirst] = sums.try_emplace(name, std::move(term));
    if (isFirst)
      return;
    addTo<E>(it->second, term);
    roundTo(getElementTypeOrSelf(type), it->second);
  }

  /// Zero where nothing depends on the parameter.
  Datum<E> takeGradient(const std::string &name) {
    auto it = sums.find(name);
    return it == sums.end() ? Datum<E>(Tensor<E>(model.findParameter(name)->shape)) : std::move(it->second);
  }

  LogicalResult computeScalars() {
    ProductSum<E> squares;
    for (const Model::Parameter &parameter : model.parameters)
      if (auto it = sums.find(parameter.name); it != sums.end())
        for (E g : std::get<Tensor<E>>(it->second).elements)
          squares.add(g, g);
    SmallVector<Datum<E>> results;
    Tensor<E> applied({}, fromDouble<E>(1)); // no step is skipped
    if (failed(evaluate<E>(model.scalars,
                           {sums["@loss_sum"], sums["@loss_count"], Tensor<E>({}, squares.get()), applied}, options,
                           results)))
      return failure();
    values[kLoss.str()] = results[0];
    values[kNorm.str()] = results[1];
    scale = std::get<Tensor<E>>(results[2]).elements[0];
    return success();
  }

  LogicalResult update(int64_t t) {
    func::FuncOp function = model.update;
    SmallVector<Datum<E>> arguments, results;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      graph::Argument argument(function, i);
      if (StringAttr parameter = argument.getParameter())
        arguments.push_back(std::move(values[parameter.str()]));
      else if (StringAttr gradient = argument.getGradient())
        arguments.push_back(takeGradient(gradient.str()));
      else if (StringAttr state = argument.getState())
        arguments.push_back(std::move(values[state.str()]));
      else if (std::optional<int64_t> group = argument.getGroup()) {
        Tensor<E> numbers = groupNumbers<E>(model.groups[*group], model.schedule, t);
        numbers.elements[runtime::indexInGroup(runtime::StepNumber::GradientFactor)] = scale;
        arguments.push_back(numbers);
      }
    }
    if (failed(evaluate<E>(function, std::move(arguments), options, results)))
      return failure();
    for (auto [i, result] : llvm::enumerate(results)) {
      graph::Result what(function, i);
      values[(what.getParameter() ? what.getParameter() : what.getState()).str()] = std::move(result);
    }
    return success();
  }

  const Model &model;
  Source<E> source;
  Cut cut;
  Options options;
  Values<E> values, sums;
  std::map<int64_t, Values<E>> buffers; ///< by rank; none where the model has none
  E scale{};
};
} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Reference<E>> makeUnpartitioned(const Model &model, const Source<E> &source, Cut cut,
                                                const Options &options) {
  return std::make_unique<Unpartitioned<E>>(model, source, cut, options);
}
template std::unique_ptr<Reference<double>> makeUnpartitioned(const Model &, const Source<double> &, Cut,
                                                              const Options &);
template std::unique_ptr<Reference<float>> makeUnpartitioned(const Model &, const Source<float> &, Cut,
                                                             const Options &);
template std::unique_ptr<Reference<Field>> makeUnpartitioned(const Model &, const Source<Field> &, Cut,
                                                             const Options &);
} // namespace xlc::interpret
