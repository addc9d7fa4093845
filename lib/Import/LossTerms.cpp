// See LossTerms.h.
#include "LossTerms.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

using ValuePairs = DenseSet<std::pair<Value, Value>>;
bool compareValues(Value a, Value b, ValuePairs &known) {
  if (a == b || known.contains({a, b}))
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!left || !right || left->getName() != right->getName() || a.getType() != b.getType() ||
      left->getAttrDictionary() != right->getAttrDictionary() || left->getNumOperands() != right->getNumOperands() ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
    return false;
  // How many rows count does not depend on their scores.
  bool isCount = isa<graph::CrossEntropyOp>(left) && cast<OpResult>(a).getResultNumber() == 1;
  for (unsigned i = isCount; i < left->getNumOperands(); ++i)
    if (!compareValues(left->getOperand(i), right->getOperand(i), known))
      return false;
  return known.insert({a, b}), true;
}

Value countOf(const LossTerm &term) { return term.value.getDefiningOp<graph::DivOp>().getB(); }

/// Quotients of one count may be added, and to what is the same for all rows; a mean has a count of its own.
void compareCounts(LossTerms &result) {
  const LossTerm *quotient = nullptr;
  for (const LossTerm &term : result.terms)
    if (term.kind == LossTerm::Kind::Quotient)
      quotient = quotient ? quotient : &term;
  for (const LossTerm &term : result.terms) {
    bool isOther =
        quotient && (term.kind == LossTerm::Kind::Quotient ? !onnx::isSameValue(countOf(*quotient), countOf(term))
                                                           : term.kind != LossTerm::Kind::Same);
    if (isOther && !result.obstacle)
      result.obstacle = LossObstacle{Obstacle::Counts, quotient->value.getDefiningOp(), term.value.getDefiningOp()};
  }
}

class TermFinder {
public:
  TermFinder(const BatchRows &rows, LossTerms &result) : rows(rows), result(result) {}

  /// Adds all terms of the loss.
  void run(Value loss) {
    collect(loss, 0);
    compareCounts(result);
    bool needsStep = ofStep && (!result.obstacle || result.obstacle->why == Obstacle::Counts);
    if (needsStep)
      result.obstacle = LossObstacle{Obstacle::Step, ofStep, nullptr};
  }

private:
  /// Adds the terms of `value`, which the loss has times rows^power.
  void collect(Value value, int power) {
    const RowState &state = rows.of(value);
    using Kind = RowState::Kind;
    switch (state.kind) {
    case Kind::Met:
      return fail(state.why, state.where);
    case Kind::Rows:
      return fail(Obstacle::Rows, value.getDefiningOp());
    case Kind::Same:
      return add(LossTerm::Kind::Same, value, state.power, power, 0);
    case Kind::Sum: {
      bool isMean = state.power && *state.power + power == -1;
      return add(isMean ? LossTerm::Kind::Mean : LossTerm::Kind::Sum, value, state.power, power, isMean ? -1 : 0);
    }
    case Kind::Terms:
      return descend(value, power);
    }
  }

  void fail(Obstacle why, Operation *where, Operation *other = nullptr) {
    if (!result.obstacle)
      result.obstacle = LossObstacle{why, where, other};
  }

  void add(LossTerm::Kind kind, Value value, std::optional<int> own, int outer, int wanted) {
    if (!own || *own + outer != wanted)
      return fail(Obstacle::Factor, value.getDefiningOp());
    result.terms.push_back({kind, value});
  }

  /// The op of a value is linear in the one or two operands that are terms, or divides by a count.
  void descend(Value value, int power) {
    Operation *op = value.getDefiningOp();
    if (auto quotient = dyn_cast<graph::DivOp>(op); quotient && rows.of(quotient.getB()).kind != RowState::Kind::Same)
      return addQuotient(quotient, power);
    std::optional<int> factor = rows.factorOf(op);
    bool isSum = (op->hasTrait<graph::Additive>() && op->getNumOperands() > 1) || isa<graph::SelectOp>(op);
    for (Value operand : op->getOperands()) {
      const RowState &state = rows.of(operand);
      if (isSum || state.isSummed() || !factor)
        continue;
      factor = state.power ? std::optional(*factor + (isa<graph::DivOp>(op) ? -1 : 1) * *state.power) : std::nullopt;
    }
    if (!factor)
      return fail(Obstacle::Factor, op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!op->hasTrait<graph::Sum>() && !rows.of(operand.get()).isSummed())
        continue;
      result.inner.push_back(&operand);
      collect(operand.get(), power + *factor);
    }
  }

  void addQuotient(graph::DivOp quotient, int power) {
    const RowState &sum = rows.of(quotient.getA()), &count = rows.of(quotient.getB());
    if (sum.kind != RowState::Kind::Sum)
      return fail(Obstacle::Divisor, quotient);
    bool isOfStep = count.kind == RowState::Kind::Met; // is taken as it is
    std::optional<int> divided = isOfStep ? std::optional(0) : count.power;
    if (!sum.power || !divided || *sum.power - *divided + power != 0)
      return fail(Obstacle::Factor, quotient);
    if (isOfStep)
      ofStep = quotient;
    result.terms.push_back({LossTerm::Kind::Quotient, quotient.getY()});
  }

  const BatchRows &rows;
  LossTerms &result;
  Operation *ofStep = nullptr; ///< a division by what only the whole step tells
};

} // namespace

bool xlc::onnx::isSameValue(Value a, Value b) {
  ValuePairs known;
  return compareValues(a, b, known);
}

LossTerms xlc::onnx::findLossTerms(const BatchGraph &graph, const BatchGraph &other, const llvm::StringSet<> &local) {
  LossTerms result;
  BatchRows rows(graph, other, local);
  TermFinder(rows, result).run(graph.loss);
  return result;
}

Value xlc::onnx::findNamesake(Value value, func::FuncOp to) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return to.getArgument(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  auto isCalledSo = [&](Operation &candidate) {
    return candidate.getName() == op->getName() && graph::getSourceName(&candidate) == graph::getSourceName(op);
  };
  auto here = llvm::make_filter_range(*op->getBlock(), isCalledSo);
  auto number = std::distance(here.begin(), llvm::find_if(here, [&](Operation &one) { return &one == op; }));
  auto there = llvm::make_filter_range(to.front(), isCalledSo);
  for (Operation &candidate : there)
    if (number-- == 0)
      return candidate.getResult(cast<OpResult>(value).getResultNumber());
  return {};
}
