// FLOPs per op. An elementwise op costs a number of operations per element of its result, a reduction per element of
// its operand; an op that only moves elements costs nothing. An elementwise op without a row costs one operation per
// element, or the operations of its formula.
#include "CostTable.h"
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Estimate/Cost.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::shapeOf;

namespace {

Quantity sizeOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

Quantity nothing(Operation *) { return 0; }
template <int64_t n> Quantity perResult(Operation *op) { return n * sizeOf(op->getResult(0)); }
template <int64_t n> Quantity perOperand(Operation *op) { return n * sizeOf(op->getOperand(0)); }
Quantity perUpdate(Operation *op) { return sizeOf(op->getOperand(1)); }
Quantity perPlacedUpdate(Operation *op) { return sizeOf(op->getOperand(2)); }

/// A multiply-add for each combination of all factors.
Quantity contract(Operation *op) {
  auto product = cast<graph::ContractOp>(op);
  Quantity combinations = sizeOf(product.getY());
  auto multiplySummed = [&](StringRef letters, ArrayRef<int64_t> shape, StringRef counted) {
    for (auto [letter, size] : llvm::zip(letters, shape))
      if (!product.getLettersY().contains(letter) && !counted.contains(letter))
        combinations *= size;
  };
  multiplySummed(product.getLettersA(), shapeOf(product.getA()), "");
  multiplySummed(product.getLettersB(), shapeOf(product.getB()), product.getLettersA());
  return 2 * combinations;
}

/// Pairs of a query and a key that causality and the window leave; a causal mask alone counts as half of all.
Quantity countPairs(int64_t queries, int64_t keys, bool isCausal, int64_t window) {
  if (window == 0)
    return Quantity(queries) * keys / (isCausal ? 2 : 1);
  Quantity pairs;
  for (int64_t i = 0; i < queries; ++i) {
    int64_t begin = std::max<int64_t>(0, i - window + 1), end = std::min(keys, isCausal ? i + 1 : i + window);
    pairs += std::max<int64_t>(0, end - begin);
  }
  return pairs;
}

/// Two products over queries x keys, of d and of e features.
template <typename OpT> Quantity attentionProducts(OpT op) {
  ArrayRef<int64_t> q = shapeOf(op.getQ());
  Quantity pairs =
      countPairs(q[1], shapeOf(op.getK())[1], op.getMask() == graph::Mask::causal, (int64_t)op.getWindow().value_or(0));
  return Quantity(2) * q[0] * q[2] * pairs * (q[3] + shapeOf(op.getV())[3]);
}
Quantity attention(Operation *op) { return attentionProducts(cast<graph::AttentionOp>(op)); }
/// Five products instead of two: the scores again, and the gradients of both factors of both.
Quantity attentionBackward(Operation *op) { return attentionProducts(cast<graph::AttentionBackwardOp>(op)) * 5 / 2; }

Quantity optimizerStep(Operation *op) {
  auto step = cast<graph::OptimizerStepOp>(op);
  int64_t clipping = step.getClipValue() ? 2 : 0; // two comparisons
  return sizeOf(step.getParam()) * (step.getRule().flops + clipping);
}

/// A multiply-add for each output and each weight that leads to it; padding counts.
Quantity multiplyWindows(Value y, Value w) { return Quantity(2) * sizeOf(y) * (sizeOf(w) / shapeOf(w)[0]); }
Quantity convolution(Operation *op) { return multiplyWindows(op->getResult(0), op->getOperand(1)); }
Quantity convolutionTranspose(Operation *op) { return multiplyWindows(op->getOperand(0), op->getOperand(1)); }
Quantity convolutionWeightBackward(Operation *op) { return multiplyWindows(op->getOperand(1), op->getResult(0)); }

/// A comparison for each element of each window.
Quantity pool(Value y, ArrayRef<int64_t> window) {
  Quantity flops = sizeOf(y);
  for (int64_t size : window)
    flops *= size;
  return flops;
}
Quantity maxPool(Operation *op) { return pool(op->getResult(0), cast<graph::MaxPoolOp>(op).getWindow()); }
Quantity maxPoolBackward(Operation *op) {
  return pool(op->getOperand(1), cast<graph::MaxPoolBackwardOp>(op).getWindow());
}

/// The small ops that `op` stands for, without a place in the module.
Quantity formula(Operation *op) {
  Block scratch;
  Operation *copy = op->clone();
  scratch.push_back(copy);
  graph::writeFormula(copy);
  copy->erase();
  Quantity flops;
  for (Operation &small : scratch)
    flops += countFlops(&small);
  return flops;
}

/// Conditions are free.
Quantity elementwise(Operation *op) {
  if (cast<RankedTensorType>(op->getResult(0).getType()).getElementType().isInteger(1))
    return 0;
  return graph::hasFormula(op->getName().getStringRef()) ? formula(op) : sizeOf(op->getResult(0));
}
constexpr CostRow ofElementwise = {"", elementwise};

constexpr CostRow rows[] = {
    {"graph.cast", nothing},
    {"graph.select", nothing},
    {"graph.constant", nothing},
    {"graph.iota", nothing},
    {"graph.step_number", nothing},
    {"graph.site", nothing},
    {"graph.random_bits", nothing},
    {"graph.stochastic_cast", nothing},
    {"graph.broadcast", nothing},
    {"graph.reshape", nothing},
    {"graph.transpose", nothing},
    {"graph.slice", nothing},
    {"graph.concat", nothing},
    {"graph.pad", nothing},
    {"graph.reduce", perOperand<1>},
    {"graph.gather", nothing},
    {"graph.gather_elements", nothing},
    {"graph.scatter_add", perUpdate},
    {"graph.scatter_elements_add", perUpdate},
    {"graph.scatter_elements", perPlacedUpdate},
    {"graph.contract", contract, /*isMatrix=*/true},
    {"graph.convolution", convolution, /*isMatrix=*/true},
    {"graph.convolution_transpose", convolutionTranspose, /*isMatrix=*/true},
    {"graph.convolution_weight_backward", convolutionWeightBackward, /*isMatrix=*/true},
    {"graph.max_pool", maxPool},
    {"graph.max_pool_backward", maxPoolBackward},
    {"graph.sigmoid", perResult<3>},
    {"graph.silu", perResult<4>},
    {"graph.silu_backward", perResult<7>},
    {"graph.rms_norm", perResult<4>},
    {"graph.rms_norm_backward", perResult<8>},
    {"graph.rms_norm_weight_backward", perOperand<3>},
    {"graph.softmax", perResult<5>},
    {"graph.gelu", perResult<8>},
    {"graph.gelu_backward", perResult<14>},
    {"graph.layer_norm", perResult<8>},
    {"graph.layer_norm_backward", perResult<11>},
    {"graph.layer_norm_weight_backward", perOperand<5>},
    {"graph.attention", attention, /*isMatrix=*/true},
    {"graph.attention_backward", attentionBackward, /*isMatrix=*/true},
    {"graph.cross_entropy", perOperand<4>},
    {"graph.cross_entropy_backward", perResult<4>},
    {"graph.sum_squares", perOperand<2>},
    {"graph.optimizer_step", optimizerStep},
};

} // namespace

const CostRow *xlc::findCostRow(OperationName op) {
  auto it = llvm::find_if(rows, [&](const CostRow &row) { return row.op == op.getStringRef(); });
  if (it != std::end(rows))
    return it;
  return op.hasTrait<graph::Elementwise>() ? &ofElementwise : nullptr;
}
