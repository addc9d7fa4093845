// See EvaluationSums.h.
#include "EvaluationSums.h"

#include "SampleRows.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Runtime/Metrics.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using graph::Predicate;
using graph::Reduction;
using graph::typeOf;

namespace {

/// The label of rows that do not count, where the model has none of its own: no class has this number.
constexpr int64_t kNoClass = -100;

class Sums {
public:
  Sums(const Spec &spec, func::FuncOp forward, FileDiagnostics &diagnostics)
      : spec(spec), forward(forward), diagnostics(diagnostics), lies(spec.microBatch),
        losses(llvm::to_vector(forward.front().getOps<graph::CrossEntropyOp>())) {
    auto scope = forward->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(kLossScope);
    isGlobal = scope && scope.getValue() == "global";
  }

  bool add() {
    for (graph::CrossEntropyOp loss : losses)
      if (!leaveOut(loss))
        return false;
    Operation *end = forward.front().getTerminator();
    Value loss = end->getOperand(0), count = end->getOperand(1);
    Operation *like = losses.empty() ? loss.getDefiningOp() : losses.back().getOperation();
    graph::PartOf at(like ? like : end, OpBuilder(end), graph::Spelling::AsModels);
    Type f64 = at.b.getF64Type(), i64 = at.b.getI64Type();
    bool isOfRows = !losses.empty() && isGlobal;
    if (isOfRows && count.getDefiningOp<graph::ConstantOp>()) { // a mean over the rows of the micro-batch
      Value sample = sampleInput(forward.front(), spec.microBatch);
      Value valid = at.compare(Predicate::ge, sample, at.number(0, sample));
      loss = at.mul(loss, double(spec.microBatch)), count = at.reduceAll(Reduction::sum, at.convert(valid, i64));
    }
    if (!isOfRows)
      forward->getParentOp()->setAttr(kWholeBatches, at.b.getUnitAttr());
    give(runtime::kLossSumResult, at.convert(loss, f64));
    bool isNumber = isa<IntegerType>(typeOf(count).getElementType());
    give(runtime::kTargetsResult, at.convert(count, isNumber ? i64 : f64));
    if (!addMetrics() || !checkOutputs(end))
      return false;
    finish(end);
    return true;
  }

private:
  bool complain(StringRef key, const Twine &why) {
    diagnostics.error(spec, key, why);
    return false;
  }

  void give(StringRef name, Value value) {
    names.push_back(name.str());
    values.push_back(value);
  }

  /// Whether each element of a value with the samples' rows is of one that the data have.
  Value validLike(graph::Formula &f, Value value) {
    SampleRows::Lie lie = lies.of(value);
    int64_t rows = spec.microBatch;
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    bool isOfOne = rows == 1 && lie.hasInput; // all of it is one sample's
    if (!lie.isKnown || (!lie.layout.isSplit() && !isOfOne))
      return {};
    Value sample = sampleInput(forward.front(), rows);
    Value valid = f.compare(Predicate::ge, sample, f.number(0, sample));
    if (isOfOne)
      return f.broadcast(f.reshape(valid, SmallVector<int64_t>(shape.size(), 1)), shape);
    SmallVector<int64_t> before, alone, sizes; // [..., outer, rows, inner, ...]
    for (auto [d, size] : llvm::enumerate(shape)) {
      bool isCut = int64_t(d) == lie.layout.dim;
      int64_t outer = isCut ? lie.layout.outer : size;
      sizes.push_back(outer), alone.push_back(1);
      if (isCut) {
        sizes.append({rows, size / (outer * rows)});
        alone.append({rows, 1});
      }
    }
    return f.reshape(f.broadcast(f.reshape(valid, alone), sizes), shape);
  }

  /// Rows that the data do not have are no targets.
  bool leaveOut(graph::CrossEntropyOp loss) {
    graph::PartOf f(loss, OpBuilder(loss), graph::Spelling::AsModels);
    Value labels = loss.getLabels(), valid = validLike(f, labels);
    if (!valid)
      return complain(
          "eval",
          "the model cannot be evaluated: the rows of the batch cannot be tracked to the labels of its cross-entropy");
    int64_t ignored = loss.getIgnoreIndex() ? int64_t(*loss.getIgnoreIndex()) : kNoClass;
    loss.setIgnoreIndex(ignored);
    loss.getLabelsMutable().assign(f.select(valid, labels, double(ignored)));
    return true;
  }

  bool addMetrics() {
    auto isCounted = [](const runtime::Metric &metric) { return metric.row().sum != runtime::MetricSum::Loss; };
    auto first = llvm::find_if(spec.eval->metrics, isCounted);
    if (first == spec.eval->metrics.end())
      return true;
    if (losses.size() != 1)
      return complain("eval.metrics", "eval.metrics has " + first->name() +
                                          ", which requires exactly one cross-entropy, but the model has " +
                                          Twine(losses.size()));
    graph::CrossEntropyOp loss = losses.front();
    graph::PartOf f(loss, OpBuilder(forward.front().getTerminator()), graph::Spelling::AsModels);
    Targets targets = findTargets(f, loss);
    bool hasClasses = false;
    for (const runtime::Metric &metric : spec.eval->metrics) {
      if (metric.row().sum == runtime::MetricSum::Top && !addTop(f, targets, metric))
        return false;
      hasClasses |= metric.row().sum == runtime::MetricSum::Classes;
    }
    return !hasClasses || addClasses(f, targets);
  }

  /// What metrics are made of: with a dimension of classes, and without.
  struct Targets {
    Value logits, classes, label; ///< [..., classes]; numbers of classes, and the label of the row
    Value counted, rank;          ///< [...]
    int64_t size;                 ///< classes
  };

  Targets findTargets(graph::Formula &f, graph::CrossEntropyOp loss) {
    Value logits = loss.getLogits();
    ArrayRef<int64_t> shape = typeOf(logits).getShape();
    Type i64 = f.b.getI64Type();
    Value labels = f.convert(loss.getLabels(), i64);
    Value classes = f.iota(shape, int64_t(shape.size()) - 1);
    Value label = f.alongRows(labels, classes);
    Value own = f.reduceRows(Reduction::sum, f.select(f.isEqual(classes, label), logits, 0));
    Value ownLogit = f.alongRows(own, logits);
    Value isLarger = f.compare(Predicate::gt, logits, ownLogit);
    Value isBefore = f.both(f.isEqual(logits, ownLogit), f.isLess(classes, label));
    Value rank = f.reduceRows(Reduction::sum, f.convert(f.either(isLarger, isBefore), i64));
    Value counted = f.compare(Predicate::ne, labels, f.number(double(int64_t(*loss.getIgnoreIndex())), labels));
    return {logits, classes, label, counted, rank, shape.back()};
  }

  bool addTop(graph::Formula &f, const Targets &targets, const runtime::Metric &metric) {
    if (int64_t(metric.k) > targets.size)
      return complain("eval.metrics",
                      "eval.metrics has " + metric.name() + ", but the model has " + Twine(targets.size) + " classes");
    std::string name = runtime::nameOfTop(metric.k);
    if (llvm::is_contained(names, name))
      return true;
    Value isAmong = f.both(targets.counted, f.isLess(targets.rank, double(metric.k)));
    give(name, f.reduceAll(Reduction::sum, f.convert(isAmong, f.b.getI64Type())));
    return true;
  }

  /// By the largest logit of each row; of equal ones the first.
  bool addClasses(graph::Formula &f, const Targets &targets) {
    if (targets.size > runtime::kMostClasses)
      return complain("eval.metrics", "eval.metrics supports at most " + Twine(runtime::kMostClasses) +
                                          " classes; the model has " + Twine(targets.size));
    if (spec.eval->average == runtime::MetricAverage::Binary && targets.size != 2)
      return complain("eval.average", "eval.average = binary requires two classes, but the model has " +
                                          Twine(targets.size) + "; use macro");
    Type i64 = f.b.getI64Type();
    Value isLargest = f.isEqual(
        targets.logits, f.reduceAlong(Reduction::max, targets.logits, graph::Formula::rankOf(targets.logits) - 1));
    Value candidates = f.select(isLargest, targets.classes, double(targets.size));
    Value first = f.reduceRows(Reduction::min, candidates);
    Value isPredicted = f.isEqual(targets.classes, f.alongRows(first, targets.classes));
    Value isLabel = f.isEqual(targets.classes, targets.label);
    Value isCounted = f.alongRows(targets.counted, isLabel);
    SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, graph::Formula::rankOf(targets.logits) - 1));
    auto count = [&](StringRef name, Value which) { give(name, f.sum(f.convert(which, i64), rows, /*keeps=*/false)); };
    auto isNot = [&](Value condition) { return f.isEqual(f.convert(condition, i64), 0.0); };
    count(runtime::kTruePositives, f.both(f.both(isPredicted, isLabel), isCounted));
    count(runtime::kFalsePositives, f.both(f.both(isPredicted, isNot(isLabel)), isCounted));
    count(runtime::kFalseNegatives, f.both(f.both(isNot(isPredicted), isLabel), isCounted));
    return true;
  }

  /// The outputs are in rows of the samples: dimension 0 has so many of each sample.
  bool checkOutputs(Operation *end) {
    for (OpOperand &value : end->getOpOperands()) {
      StringAttr name = graph::Result(forward, value.getOperandNumber()).getOutput();
      if (!name)
        continue;
      ArrayRef<int64_t> shape = typeOf(value.get()).getShape();
      SampleRows::Lie lie = lies.of(value.get());
      bool isSplit = lie.layout.isSplit() && lie.layout.dim == 0 && lie.layout.outer == 1;
      bool isOfOne = spec.microBatch == 1 && lie.hasInput && !lie.layout.isSplit();
      if (shape.empty() || !lie.isKnown || (!isSplit && !isOfOne))
        return complain("eval.outputs",
                        "eval.outputs has '" + name.getValue() + "' of shape [" +
                            llvm::join(llvm::map_range(shape, [](int64_t d) { return Twine(d).str(); }), ", ") +
                            "], whose dimension 0 is not known to be the batch");
    }
    return true;
  }

  /// Sums, then outputs.
  void finish(Operation *end) {
    SmallVector<Value> outputs;
    SmallVector<StringAttr> outputNames;
    for (OpOperand &value : end->getOpOperands())
      if (StringAttr name = graph::Result(forward, value.getOperandNumber()).getOutput())
        outputs.push_back(value.get()), outputNames.push_back(name);
    size_t sums = values.size();
    llvm::append_range(values, outputs);
    end->setOperands(values);
    Builder builder(forward.getContext());
    forward.setAllResultAttrs(SmallVector<DictionaryAttr>(forward.getNumResults(), builder.getDictionaryAttr({})));
    forward.setType(builder.getFunctionType(forward.front().getArgumentTypes(), ValueRange(values).getTypes()));
    graph::SignatureAttributes attributes(forward);
    for (auto [i, name] : llvm::enumerate(names))
      attributes.setResult(i, graph::kSum, builder.getStringAttr(name));
    for (auto [i, name] : llvm::enumerate(outputNames))
      attributes.setResult(sums + i, graph::kOutput, name);
  }

  const Spec &spec;
  func::FuncOp forward;
  FileDiagnostics &diagnostics;
  SampleRows lies;
  SmallVector<graph::CrossEntropyOp> losses;
  bool isGlobal = false;          ///< the loss is that of all rows of a step, however they are cut
  SmallVector<std::string> names; ///< of what is returned
  SmallVector<Value> values;
};

} // namespace

void xlc::onnx::assignUnitsLike(func::FuncOp trained, func::FuncOp evaluation) {
  DenseMap<mlir::Attribute, int64_t> places; // of units, in the order of their first op
  SmallVector<mlir::Attribute> units;
  llvm::StringMap<mlir::Attribute> ofNode; // null: of several
  for (Operation &op : trained.front().without_terminator()) {
    mlir::Attribute unit = graph::getUnit(&op);
    if (places.try_emplace(unit, int64_t(units.size())).second)
      units.push_back(unit);
    auto [known, isNew] = ofNode.try_emplace(graph::getSourceName(&op), unit);
    if (!isNew && known->second != unit)
      known->second = {};
  }
  DenseMap<Operation *, int64_t> placeOf;
  SmallVector<Operation *> open; // without operands that say it
  for (Operation &op : evaluation.front().without_terminator()) {
    int64_t place = -1;
    if (mlir::Attribute unit = ofNode.lookup(graph::getSourceName(&op)))
      place = places.lookup(unit);
    for (Value operand : op.getOperands()) // never before what it reads
      if (auto producer = placeOf.find(operand.getDefiningOp()); producer != placeOf.end())
        place = std::max(place, producer->second);
    place < 0 ? open.push_back(&op) : (void)(placeOf[&op] = place);
  }
  for (Operation *op : llvm::reverse(open)) {
    int64_t place = int64_t(units.size()) - 1;
    for (Operation *reader : op->getUsers())
      if (auto known = placeOf.find(reader); known != placeOf.end())
        place = std::min(place, known->second);
    placeOf[op] = place;
  }
  for (auto [op, place] : placeOf)
    op->setAttr(graph::kUnit, units[place]);
}

bool xlc::onnx::addEvaluationSums(const Spec &spec, func::FuncOp forward, FileDiagnostics &diagnostics) {
  return Sums(spec, forward, diagnostics).add();
}

std::optional<SmallVector<Value>> xlc::onnx::findOutputs(const Model &model, const Spec &spec, Importer &importer,
                                                         FileDiagnostics &diagnostics) {
  SmallVector<Value> outputs;
  auto complain = [&](const Twine &what) { diagnostics.error(spec, "eval.outputs", "eval.outputs has '" + what); };
  for (const std::string &name : spec.eval->outputs)
    if (!llvm::is_contained(model.outputs, name))
      complain(name + "', which is not an output of the model; the outputs are " + llvm::join(model.outputs, ", "));
    else if (Value value = importer.values[name].value; value && value.getDefiningOp())
      outputs.push_back(value);
    else
      complain(name + "', which does not depend on the data");
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(outputs));
}
