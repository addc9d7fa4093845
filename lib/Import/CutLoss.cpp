// Rewrites the loss of one micro-batch as sum and count, so that pieces of a global batch add up to its loss.
//
//     means, and what is the same for all rows   sum = loss             count = 1
//     sums over rows                             sum = pieces * loss    count = 1
//     sum / count                                sum = its sum          count = its count
//     several sums, each by its own count        sum = pieces * (its sum / its count in the whole step)   count = 1
//
// A loss of several terms is rebuilt, each term according to its kind. If that is impossible because rows meet, a batch
// that is cut is rejected, unless the spec accepts the mean of the pieces' losses.
#include "Loss.h"
#include "StepCounts.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using xlc::graph::typeOf;

namespace {

class LossCutter {
public:
  LossCutter(const Spec &spec, const LossValue &loss, const LossTerms &terms, func::FuncOp forward, OpBuilder &builder)
      : spec(spec), loss(loss.value), terms(terms), forward(forward), builder(builder),
        loc(NameLoc::get(builder.getStringAttr("loss"))) {}

  int64_t pieces() const { return spec.microBatches() * spec.dp; }

  Loss average() {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    Value one =
        graph::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, builder.getI64IntegerAttr(1)));
    return Loss{scalar(loss), one, pieces(), "micro_batch"};
  }

  /// Each quotient by its count in all rows of the step, of which `whole` is the graph. None where that is not known.
  std::optional<Loss> divideByStep(const BatchGraph &whole) {
    StepCounts counts(forward, builder);
    for (const LossTerm &term : terms.terms) {
      Value here = findNamesake(term.value, forward),
            there = whole.loss ? findNamesake(term.value, whole.function) : Value();
      if (!here || !there)
        return std::nullopt;
      if (term.kind != LossTerm::Kind::Quotient) {
        replaced[here] = change(term.kind, here, {});
        continue;
      }
      Value count = graph::skipReshapings(there.getDefiningOp<graph::DivOp>().getB()),
            sum = here.getDefiningOp<graph::DivOp>().getA();
      if (!StepCounts::isOfInputs(count))
        return std::nullopt;
      count = like(sum, scalar(counts.copy(count)));
      Value share = graph::DivOp::create(builder, loc, sum.getType(), sum, count);
      replaced[here] = graph::ScaleOp::create(builder, loc, sum.getType(), share, pieces(), int64_t(1));
    }
    return add();
  }

  /// None where the loss is not found again in this graph.
  std::optional<Loss> takeApart() {
    Value count;
    for (const LossTerm &term : terms.terms)
      if (term.kind == LossTerm::Kind::Quotient && !count)
        if (Value here = findNamesake(term.value, forward))
          count = here.getDefiningOp<graph::DivOp>().getB();
    for (const LossTerm &term : terms.terms) {
      Value here = findNamesake(term.value, forward);
      if (!here)
        return std::nullopt;
      replaced[here] = change(term.kind, here, count);
    }
    std::optional<Loss> result = add();
    if (result && count) {
      result->nominalCount *= countedElements(count);
      result->count = numberOf(count);
    }
    return result;
  }

private:
  /// The loss of the replaced terms, as a mean of the pieces.
  std::optional<Loss> add() {
    for (OpOperand *operand : terms.inner)
      if (Value here = findNamesake(operand->getOwner()->getResult(0), forward))
        inner[here.getDefiningOp()].push_back(operand->getOperandNumber());
    Value sum = rebuild(loss);
    if (!sum)
      return std::nullopt;
    Loss result = average();
    result.sum = scalar(sum);
    return result;
  }

  Value scalar(Value value) {
    auto type = typeOf(value).clone(ArrayRef<int64_t>{});
    return type == value.getType() ? value : graph::ReshapeOp::create(builder, loc, type, value).getResult();
  }

  /// What a term adds to the sum.
  Value change(LossTerm::Kind kind, Value term, Value count) {
    switch (kind) {
    case LossTerm::Kind::Quotient:
      return term.getDefiningOp<graph::DivOp>().getA();
    case LossTerm::Kind::Sum:
      return pieces() == 1
                 ? term
                 : graph::ScaleOp::create(builder, loc, term.getType(), term, pieces(), int64_t(1)).getResult();
    case LossTerm::Kind::Same:
      if (!count)
        return term;
      return graph::MulOp::create(builder, loc, term.getType(), term, like(term, numberOf(count)));
    case LossTerm::Kind::Mean:
      return term;
    }
  }

  Value like(Value to, Value number) {
    auto type = typeOf(to);
    if (typeOf(number).getElementType() != type.getElementType())
      number = graph::CastOp::create(builder, loc, typeOf(number).clone(type.getElementType()), number);
    return type.getRank() == 0 ? number : graph::BroadcastOp::create(builder, loc, type, number).getResult();
  }

  /// The number that a divisor is, before it was repeated and, where it is an integer, converted.
  Value numberOf(Value divisor) {
    Value value = graph::skipReshapings(divisor);
    auto cast = value.getDefiningOp<graph::CastOp>();
    if (cast && typeOf(cast.getX()).getElementType().isInteger(64))
      value = cast.getX();
    return scalar(value);
  }

  /// How many elements are counted, for a number that is about as large as the count.
  static int64_t countedElements(Value value) {
    for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
      if (auto scored = dyn_cast<graph::CrossEntropyOp>(op))
        return typeOf(scored.getLabels()).getNumElements();
      if (isa<graph::ReduceOp>(op))
        return typeOf(op->getOperand(0)).getNumElements();
      if (op->getNumOperands() == 0)
        break;
    }
    return 1;
  }

  /// `value` with its terms replaced; null where none is found.
  Value rebuild(Value value) {
    if (Value known = replaced.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    auto it = inner.find(op);
    bool isArrangement = op && op->hasTrait<graph::Reshaping>();
    if (it == inner.end() && !isArrangement)
      return {};
    SmallVector<unsigned> operands = it == inner.end() ? SmallVector<unsigned>{0} : it->second;
    SmallVector<Value> rebuilt;
    for (unsigned number : operands)
      if (!rebuilt.emplace_back(rebuild(op->getOperand(number))))
        return {};
    Operation *copy = nullptr; // behind all that it reads
    for (auto [number, operand] : llvm::zip(operands, rebuilt)) {
      if (operand == op->getOperand(number))
        continue;
      copy = copy ? copy : builder.clone(*op);
      copy->setOperand(number, operand);
    }
    return replaced[value] = copy ? copy->getResult(0) : value;
  }

  const Spec &spec;
  Value loss;
  const LossTerms &terms;
  func::FuncOp forward;
  OpBuilder &builder;
  Location loc;
  DenseMap<Value, Value> replaced;
  DenseMap<Operation *, SmallVector<unsigned>> inner;
};

/// An op by the node that it comes from.
std::string describe(Operation *op, const Model &model) {
  StringRef name = op ? graph::getSourceName(op) : StringRef();
  for (const Node &node : model.nodes)
    if (node.name == name)
      return node.describe() + (node.scope.empty() ? "" : " in '" + node.scope + "'");
  return "the " + (op ? op->getName().stripDialect().str() : "end") + " of '" + name.str() + "'";
}

std::string explain(const LossObstacle &obstacle, const Model &model) {
  std::string where = describe(obstacle.where, model);
  switch (obstacle.why) {
  case Obstacle::Rows:
    return "rows of the batch interact at " + where;
  case Obstacle::Sum:
    return where + " is not linear and is applied to a sum over the batch";
  case Obstacle::Divisor:
    return where + " divides by a sum over the batch that has a gradient or more than one element";
  case Obstacle::Factor:
    return where + " depends on the number of rows in a different way than a mean";
  case Obstacle::Counts:
    return "its terms are divided by different counts, which cannot be computed before the step, at " + where +
           " and " + describe(obstacle.other, model) +
           ": the counts must depend on inputs only, and the batch must be dynamic";
  case Obstacle::Step:
    return where + " divides by a number that depends on the whole batch, is not a sum over the batch, and cannot "
                   "be computed before the step: the number must depend on inputs only, and the batch must be "
                   "dynamic";
  case Obstacle::Fixed:
    return "the file fixes its batch at 1, so that rows cannot be tracked; export it with a dynamic batch";
  }
}

void refuse(const LossObstacle &obstacle, const Model &model, const Spec &spec, int64_t pieces, const LossValue &loss,
            FileDiagnostics &diagnostics) {
  diagnostics.error("the loss '" + loss.name +
                    "' of the global batch cannot be computed from the parts of a divided batch (dp = " +
                    Twine(spec.dp) + ", " + Twine(spec.microBatches()) +
                    " micro-batches of batch.micro = " + Twine(spec.microBatch) + "): " + explain(obstacle, model));
  diagnostics.note("with dp = 1 and batch.micro = " + Twine(pieces * spec.microBatch) +
                   " the batch is not divided; 'loss: {scope: micro_batch}' trains on the mean of the losses of the "
                   "micro-batches, as PyTorch does with the same division");
}

} // namespace

Loss xlc::onnx::cutLoss(const Model &model, const Spec &spec, const LossValue &loss, const LossTerms &terms,
                        llvm::function_ref<BatchGraph(int64_t)> importAt, func::FuncOp forward, OpBuilder &builder,
                        FileDiagnostics &diagnostics) {
  LossCutter cutter(spec, loss, terms, forward, builder);
  if (spec.loss.scope == LossSpec::Scope::MicroBatch)
    return cutter.average();
  std::optional<LossObstacle> obstacle = terms.obstacle;
  std::optional<Loss> apart;
  if (obstacle && (obstacle->why == Obstacle::Counts || obstacle->why == Obstacle::Step))
    apart = cutter.divideByStep(importAt(cutter.pieces() * spec.microBatch));
  else if (!obstacle)
    apart = cutter.takeApart();
  if (apart) {
    apart->scope = "global";
    return *apart;
  }
  if (cutter.pieces() > 1)
    refuse(obstacle ? *obstacle : LossObstacle{Obstacle::Rows, loss.value.getDefiningOp()}, model, spec,
           cutter.pieces(), loss, diagnostics);
  Loss whole = cutter.average();
  whole.scope = "whole";
  return whole;
}
