// Runs a partitioned program and the unpartitioned one side by side and compares what they hold.
#include "xlc/Interpret/Verify.h"
#include "../Ranks/Partitioned.h"
#include "Comparison.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Support/FreedMemory.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {
/// How often data is drawn again when some element has no inverse in the field.
constexpr uint64_t kDraws = 3;

template <class E> bool hasUndefined(const Values<E> &values) {
  return llvm::any_of(values, [](auto &entry) {
    auto *tensor = std::get_if<Tensor<E>>(&entry.second);
    return tensor && llvm::any_of(tensor->elements, isUndefined<E>);
  });
}

struct Parallel {
  SmallVector<sched::TimelineOp> timelines; ///< by stage
  SmallVector<exec::ProgramOp> programs;    ///< likewise
  std::optional<Model> staged;         ///< between Differentiate and DataParallel: one rank's functions, cut into units
  dist::MeshAttr mesh;                 ///< null where there is one rank
  int64_t ranks = 1, microBatches = 1; ///< among which the batch is cut
};

/// What the mesh says, if there is one op for each of its stages.
template <typename Op> FailureOr<Parallel> findStages(ArrayRef<Op> ops, Parallel parallel) {
  parallel.mesh = Op(ops[0]).getMesh();
  parallel.ranks = parallel.mesh.getDp();
  parallel.microBatches = Op(ops[0]).getMicroBatches();
  int64_t due = 0;
  for (Op op : ops)
    if (int64_t stage = due++; (int64_t)op.getStage() != stage || parallel.mesh.getPp() != (int64_t)ops.size())
      return op.emitOpError() << "is number " << stage << " in the module and has stage " << op.getStage()
                              << "; the module must have one such op for each of the " << parallel.mesh.getPp()
                              << " stages, in ascending order";
  return parallel;
}

FailureOr<Parallel> findParallel(const Programs &programs) {
  ModuleOp module = programs.partitioned;
  SmallVector<sched::TimelineOp> timelines = sched::timelinesOf(module);
  SmallVector<exec::ProgramOp> ops = exec::programsOf(module);
  if (!ops.empty())
    return findStages<exec::ProgramOp>(ops, Parallel{{}, ops, {}, {}});
  if (!timelines.empty())
    return findStages<sched::TimelineOp>(timelines, Parallel{timelines, {}, {}, {}});
  if (module == programs.unpartitioned)
    return module.emitError(
        "verification needs a sched.timeline or an exec.program, or another module to compare with");
  FailureOr<Model> staged = Model::read(module), whole = Model::read(programs.unpartitioned);
  if (failed(staged) || failed(whole))
    return failure();
  staged->parameters = whole->parameters; // after Shard the micro-batch takes pieces
  return Parallel{{}, {}, staged, {}, 1, 2};
}

template <class E>
std::unique_ptr<Runner<E>> makeParallel(const Model &model, Parallel &parallel, const Source<E> &source,
                                        const Options &options, const std::optional<Order> &order,
                                        KernelResults<E> *known = nullptr) {
  if (!parallel.programs.empty())
    return makeProgram<E>(parallel.programs, model, source, options, order, known);
  if (!parallel.timelines.empty())
    return makeTimeline<E>(parallel.timelines, model, source, options);
  return makeUnpartitioned<E>(*parallel.staged, source, {parallel.ranks, parallel.microBatches}, options);
}

VerifyReport reportOn(const Model &model, const Parallel &parallel) {
  VerifyReport report;
  report.ranks = parallel.mesh ? dist::MeshAttr(parallel.mesh).getRanks() : parallel.ranks;
  report.microBatches = parallel.microBatches;
  report.evaluates = bool(model.evaluation);
  return report;
}

/// Behind a step each rank has all sums of an evaluation.
template <class E>
LogicalResult compareEvaluations(int64_t t, Runner<E> &whole, Runner<E> &parts, Comparison<E> &comparison) {
  Values<E> expected;
  if (failed(whole.evaluate(t, [&](int64_t, StringRef name, const Datum<E> &sum) { expected[name.str()] = sum; })))
    return failure();
  auto visit = [&](int64_t rank, StringRef name, const Datum<E> &sum) {
    if (auto it = expected.find(name.str()); it != expected.end())
      comparison.compare(t, rank, name, sum, it->second);
  };
  if (failed(parts.evaluate(t, visit)))
    return failure();
  comparison.checkHeld(t, expected);
  comparison.endStep();
  return success();
}

/// One draw of the data. Sets `isUndefined` where the unpartitioned program came to an undefined element.
template <class E>
FailureOr<VerifyReport> verifyOnce(const Model &model, Parallel &parallel, const VerifyOptions &options, uint64_t seed,
                                   bool &isUndefined) {
  Source<E> source{seed};
  Options evaluation{seed};
  Cut cut{parallel.ranks, parallel.microBatches};
  auto whole = makeUnpartitioned<E>(model, source, cut, evaluation);
  auto parts = makeParallel<E>(model, parallel, source, evaluation, options.order);
  VerifyReport report = reportOn(model, parallel);
  Comparison<E> comparison(options, report);
  for (int64_t t = 1; t <= options.steps && report.isEqual(); ++t) {
    if (failed(whole->step(t)))
      return failure();
    for (int64_t row = -1; row < cut.ranks; ++row)
      isUndefined |= hasUndefined(whole->valuesOf(row));
    if (isUndefined)
      break;
    if (failed(parts->step(t)))
      return failure();
    auto visit = [&](int64_t rank, StringRef name, const Datum<E> &value) {
      int64_t row = parallel.mesh ? parallel.mesh.dpOf(rank) : rank; // ranks differ in buffers
      if (const Datum<E> *wanted = whole->find(row, nameOfEqual(name)))
        comparison.compare(t, rank, name, value, *wanted);
    };
    if (failed(parts->forEachHeld(visit)))
      return failure();
    for (int64_t row : {-1, 0})
      comparison.checkHeld(t, whole->valuesOf(row));
    comparison.endStep();
    if (model.evaluation && report.isEqual() && failed(compareEvaluations<E>(t, *whole, *parts, comparison)))
      return failure();
    report.steps = t;
  }
  return report;
}

/// Digests of what each rank should hold after each step, by dp index (-1: what all hold) and name; those of the sums
/// of an evaluation behind it are at `kOfEvaluation`.
using Digests = std::vector<std::map<int64_t, std::map<std::string, uint64_t>>>;
constexpr int64_t kOfEvaluation = -2;

/// Those of the unpartitioned program, which is gone then. Sets `isUndefined` as verifyOnce does.
template <class E>
FailureOr<Digests> digestWhole(const Model &model, Cut cut, const VerifyOptions &options, uint64_t seed,
                               bool &isUndefined) {
  Source<E> source{seed};
  auto whole = makeUnpartitioned<E>(model, source, cut, Options{seed});
  Digests expected(options.steps);
  for (int64_t t = 1; t <= options.steps && !isUndefined; ++t) {
    if (failed(whole->step(t)))
      return failure();
    for (int64_t row = -1; row < cut.ranks; ++row) {
      isUndefined |= hasUndefined(whole->valuesOf(row));
      for (const auto &[name, value] : whole->valuesOf(row))
        expected[t - 1][row][name] = digestOf<E>(value);
    }
    auto visit = [&](int64_t, StringRef name, const Datum<E> &sum) {
      expected[t - 1][kOfEvaluation][name.str()] = digestOf<E>(sum);
    };
    if (model.evaluation && failed(whole->evaluate(t, visit)))
      return failure();
  }
  return expected;
}

/// Runs the partitioned program. What differs is named.
template <class E>
FailureOr<VerifyReport> compareDigests(const Digests &expected, const Model &model, Parallel &parallel,
                                       const VerifyOptions &options, uint64_t seed, KernelResults<E> *known) {
  Source<E> source{seed};
  auto parts = makeParallel<E>(model, parallel, source, Options{seed}, options.order, known);
  VerifyReport report = reportOn(model, parallel);
  report.byDigest = true;
  Comparison<E> comparison(options, report);
  for (int64_t t = 1; t <= options.steps && report.isEqual(); ++t) {
    if (failed(parts->step(t)))
      return failure();
    const auto &due = expected[t - 1];
    auto visit = [&](int64_t rank, StringRef name, const Datum<E> &value) {
      for (int64_t row : {int64_t(-1), parallel.mesh ? parallel.mesh.dpOf(rank) : rank})
        if (auto values = due.find(row); values != due.end())
          if (auto it = values->second.find(nameOfEqual(name)); it != values->second.end())
            return comparison.compare(t, rank, name, value, it->second);
    };
    if (failed(parts->forEachHeld(visit)))
      return failure();
    for (int64_t row : {-1, 0})
      if (auto values = due.find(row); values != due.end())
        comparison.checkHeld(t, values->second);
    comparison.endStep();
    if (auto sums = due.find(kOfEvaluation); sums != due.end() && report.isEqual()) {
      auto compareSum = [&](int64_t rank, StringRef name, const Datum<E> &sum) {
        if (auto it = sums->second.find(name.str()); it != sums->second.end())
          comparison.compare(t, rank, name, sum, it->second);
      };
      if (failed(parts->evaluate(t, compareSum)))
        return failure();
      comparison.checkHeld(t, sums->second);
      comparison.endStep();
    }
    report.steps = t;
  }
  return report;
}

/// First one program, then the other, in each of these orders: the first report that is not equal, or the last. So not
/// both are in memory at once, and what the unpartitioned one computes serves all orders.
template <class E>
FailureOr<VerifyReport> verifyByDigest(const Model &model, Parallel &parallel, const VerifyOptions &options,
                                       ArrayRef<std::optional<Order>> orders, uint64_t seed, bool &isUndefined) {
  FailureOr<Digests> expected =
      digestWhole<E>(model, {parallel.ranks, parallel.microBatches}, options, seed, isUndefined);
  if (failed(expected))
    return failure();
  giveBackFreedMemory();
  FailureOr<VerifyReport> report = VerifyReport();
  VerifyOptions ordered = options;
  KernelResults<E> known;
  for (size_t i = 0; i < orders.size() && !isUndefined && succeeded(report) && report->isEqual(); ++i) {
    ordered.order = orders[i];
    report = compareDigests<E>(*expected, model, parallel, ordered, seed, orders.size() > 1 ? &known : nullptr);
  }
  return report;
}

int64_t countParameters(const Model &model) {
  int64_t count = 0;
  for (const Model::Parameter &parameter : model.parameters)
    count += countOf(parameter.shape);
  return count;
}

/// Draws the data again where the unpartitioned program comes to undefined elements.
FailureOr<VerifyReport>
verifyDrawn(const Model &model, const VerifyOptions &options,
            llvm::function_ref<FailureOr<VerifyReport>(uint64_t seed, bool &isUndefined)> once) {
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    bool isUndefined = false;
    FailureOr<VerifyReport> report = once(options.seed + draw, isUndefined);
    if (failed(report) || !isUndefined)
      return report;
  }
  Operation *function = const_cast<Model &>(model).microBatch;
  return function->emitError()
         << "the unpartitioned program computes undefined elements with each of " << kDraws
         << " random inputs, for example by a division by zero, as in a loss without counted targets";
}

template <class E>
FailureOr<VerifyReport> verifyIn(const Model &model, Parallel &parallel, const VerifyOptions &options) {
  bool isLarge = countParameters(model) > options.heldParameters;
  return verifyDrawn(model, options, [&](uint64_t seed, bool &isUndefined) {
    if (std::is_same_v<E, Field> && isLarge)
      return verifyByDigest<E>(model, parallel, options, options.order, seed, isUndefined);
    return verifyOnce<E>(model, parallel, options, seed, isUndefined);
  });
}

} // namespace

FailureOr<VerifyReport> interpret::verify(const Programs &programs, const VerifyOptions &options) {
  FailureOr<Model> model = Model::read(programs.unpartitioned);
  FailureOr<Parallel> parallel = findParallel(programs);
  if (failed(model) || failed(parallel))
    return failure();
  switch (options.arithmetic) {
  case Arithmetic::F64:
    return verifyIn<double>(*model, *parallel, options);
  case Arithmetic::F32:
    return verifyIn<float>(*model, *parallel, options);
  case Arithmetic::Field:
    return verifyIn<Field>(*model, *parallel, options);
  }
  llvm_unreachable("all arithmetics are named");
}

FailureOr<VerifyReport> interpret::verifyOrders(const Programs &programs, const VerifyOptions &options, int64_t count) {
  SmallVector<std::optional<Order>> orders;
  for (int64_t i = 0; i < count; ++i)
    orders.push_back(Order{options.seed + uint64_t(i), std::nullopt});
  FailureOr<VerifyReport> report = VerifyReport();
  if (options.arithmetic == Arithmetic::Field) {
    FailureOr<Model> model = Model::read(programs.unpartitioned);
    FailureOr<Parallel> parallel = findParallel(programs);
    if (failed(model) || failed(parallel))
      return failure();
    return verifyDrawn(*model, options, [&](uint64_t seed, bool &isUndefined) {
      return verifyByDigest<Field>(*model, *parallel, options, orders, seed, isUndefined);
    });
  }
  VerifyOptions ordered = options;
  for (size_t i = 0; i < orders.size() && succeeded(report) && report->isEqual(); ++i) {
    ordered.order = orders[i];
    report = verify(programs, ordered);
  }
  return report;
}

Work interpret::countWork(func::FuncOp function) {
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  Work work;
  double &total = work.products;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        work.elements += type.getNumElements();
    if (auto contract = dyn_cast<graph::ContractOp>(op)) {
      double summed = 1;
      for (auto [letter, size] : llvm::zip(contract.getLettersA(), shapeOf(contract.getA())))
        summed *= contract.getLettersY().contains(letter) ? 1 : size;
      total += summed * countOf(shapeOf(contract.getY()));
    }
    if (op->hasTrait<graph::Convolution>()) {
      bool isForward = isa<graph::ConvolutionOp>(op), isTranspose = isa<graph::ConvolutionTransposeOp>(op);
      Value y = isForward ? op->getResult(0) : op->getOperand(isTranspose ? 0 : 1);
      Value w = isForward || isTranspose ? op->getOperand(1) : op->getResult(0);
      total += double(countOf(shapeOf(y))) * countOf(shapeOf(w).drop_front());
    }
    if (op->hasTrait<graph::Attention>()) {
      ArrayRef<int64_t> q = shapeOf(op->getOperand(0)), k = shapeOf(op->getOperand(1)), v = shapeOf(op->getOperand(2));
      double products = isa<graph::AttentionOp>(op) ? 1 : 3;
      total += products * countOf(q.take_front(3)) * k[1] * (q[3] + v[3]);
    }
  });
  return work;
}

VerifyCost interpret::estimateCost(const Programs &programs, const VerifyOptions &options) {
  // Measured on one core: the field multiplies and adds about 1.2e9 times a second, floating point 1e9 times.
  double rate = options.arithmetic == Arithmetic::Field ? 1.2e9 : 1e9;
  VerifyCost cost;
  FailureOr<Parallel> parallel = findParallel(programs);
  func::FuncOp function = graph::Entry::find(ModuleOp(programs.unpartitioned), graph::Purpose::train).getFunction();
  if (failed(parallel) || !function)
    return cost;
  Work work = countWork(function);
  cost.multiplyAdds = 2.0 * options.steps * parallel->ranks * parallel->microBatches * (work.products + work.elements);
  cost.seconds = cost.multiplyAdds / rate;
  return cost;
}

std::string VerifyCost::toString() const {
  return llvm::formatv("{0:e1} multiply-adds, about {1:f1} s on one core", multiplyAdds, seconds);
}

std::string VerifyReport::summary(const VerifyOptions &options) const {
  StringRef arithmetics[] = {"double precision", "single precision", "the field of 2^61 - 1 elements"};
  std::string text =
      llvm::formatv("compared {0}, {1}, over {2} of {3} x {4} in {5}\n", formatCount(tensors, "tensor"),
                    formatCount(elements, "element"), formatCount(steps, "step"), formatCount(ranks, "rank"),
                    formatCount(microBatches, "micro-batch"), arithmetics[size_t(options.arithmetic)]);
  text += evaluates ? "loss, norm, parameters, optimizer states and sums of evaluations: "
                    : "loss, norm, parameters and optimizer states: ";
  text += formatCount(names.size(), "name") + "\n";
  if (byDigest)
    text += "tensors are compared by 64-bit digests, because both programs do not fit into memory together\n";
  text += isEqual()
              ? "all equal\n"
              : formatCount(differing, byDigest ? "tensor" : "element") + (differing == 1 ? " differs\n" : " differ\n");
  for (const std::string &difference : differences)
    text += difference + "\n";
  return text;
}
