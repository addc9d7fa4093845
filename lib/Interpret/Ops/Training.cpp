// Rules of the ops that only training has: the loss over labels and the optimizer's update.
#include "Optimizer.h"
#include "xlc/Interpret/Parallel.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

static LogicalResult checkLabel(Operation *op, int64_t label, int64_t classes) {
  if (label >= 0 && label < classes)
    return success();
  return op->emitOpError() << "has label " << label << ", which is out of range for " << classes << " classes";
}

/// Calls visit(row number, label, softmax of the row, its log-sum-exp) for all rows; a label that is
/// not `ignored` lies within the classes.
template <class E, class Visit>
static LogicalResult forEachRow(Evaluation<E> &e, std::optional<int64_t> ignored, Visit visit) {
  const Tensor<E> &logits = e.floats(0);
  size_t classes = logits.shape.back();
  std::vector<E> row(classes);
  for (auto [number, label] : llvm::enumerate(e.integers(1).elements)) {
    if (label != ignored && failed(checkLabel(e.op, label, classes)))
      return failure();
    std::copy_n(logits.elements.begin() + number * classes, classes, row.begin());
    E lse = softmaxRow<E>(row, e.functions);
    if (failed(visit(number, label, row, lse)))
      return failure();
  }
  return success();
}

template <class E> LogicalResult TrainingRules<E>::crossEntropy(Evaluation<E> &e) {
  std::optional<int64_t> ignored = cast<graph::CrossEntropyOp>(e.op).getIgnoreIndex();
  const Tensor<E> &logits = e.floats(0);
  Tensor<E> sum(ArrayRef<int64_t>{}), lse(e.resultShape(2));
  Integers count(ArrayRef<int64_t>{});
  auto visit = [&](size_t number, int64_t label, ArrayRef<E> row, E rowLse) {
    lse.elements[number] = rowLse;
    if (label != ignored) {
      sum.elements[0] += rowLse - logits.elements[number * row.size() + label];
      ++count.elements[0];
    }
    return success();
  };
  if (failed(forEachRow(e, ignored, visit)))
    return failure();
  (void)e.give(std::move(sum));
  (void)e.give(std::move(count));
  return e.give(std::move(lse));
}

template <class E> LogicalResult TrainingRules<E>::crossEntropyBackward(Evaluation<E> &e) {
  std::optional<int64_t> ignored = cast<graph::CrossEntropyBackwardOp>(e.op).getIgnoreIndex();
  const Tensor<E> &saved = e.floats(2);
  E dsum = e.floats(3).elements[0], one = fromInteger<E>(1);
  Tensor<E> dlogits(e.resultShape());
  auto visit = [&](size_t number, int64_t label, ArrayRef<E> row, E lse) -> LogicalResult {
    if (!isSameSaved(lse, saved.elements[number]))
      return e.op->emitOpError("has a saved log-sum-exp that does not match the logits");
    if (label != ignored)
      for (size_t i = 0; i < row.size(); ++i)
        dlogits.elements[number * row.size() + i] = dsum * (int64_t(i) == label ? row[i] - one : row[i]);
    return success();
  };
  if (failed(forEachRow(e, ignored, visit)))
    return failure();
  return e.give(std::move(dlogits));
}

template <class E> LogicalResult TrainingRules<E>::optimizerStep(Evaluation<E> &e) {
  auto op = cast<graph::OptimizerStepOp>(e.op);
  UpdateRule<E> update(graph::OptimizerGroup(op->getAttrDictionary()), op.getContext(), e.functions);
  Tensor<E> param = e.floats(0);
  SmallVector<Tensor<E>> states;
  for (size_t i = 3; i < e.operands.size(); ++i)
    states.push_back(e.floats(i));
  forEachPiece(param.elements.size(), [&](int64_t first, int64_t count) {
    SmallVector<E *> own;
    for (Tensor<E> &state : states)
      own.push_back(&state.elements[first]);
    update(&param.elements[first], &e.floats(1).elements[first], own, count, e.floats(2));
  });
  (void)e.give(std::move(param));
  for (Tensor<E> &state : states)
    (void)e.give(std::move(state));
  return success();
}

XLC_INSTANTIATE_RULES(xlc::interpret::TrainingRules);
