// The role of each op in mixed precision. Ops whose traits define it, and named ops whose formula defines it, have no
// row.
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Precision/Precision.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {
struct Row {
  StringRef op;
  PrecisionClass is;
};
} // namespace

template <typename... Ops> static void add(std::vector<Row> &rows, PrecisionClass is) {
  (rows.push_back({Ops::getOperationName(), is}), ...);
}

static std::vector<Row> makeTable() {
  std::vector<Row> rows;
  add<ContractOp, AttentionOp, AttentionBackwardOp>(rows, PrecisionClass::Product);
  add<ConvolutionOp, ConvolutionTransposeOp, ConvolutionWeightBackwardOp>(rows, PrecisionClass::Convolution);
  add<ConcatOp, PadOp, GatherOp, GatherElementsOp>(rows, PrecisionClass::Movement);
  // In the library's f32, as element-wise ops are.
  add<MaxPoolOp, MaxPoolBackwardOp, ScatterAddOp, ScatterElementsAddOp, ScatterElementsOp>(rows, PrecisionClass::Small);
  add<CrossEntropyOp, ReduceOp, SumSquaresOp, LayerNormWeightBackwardOp, RmsNormWeightBackwardOp, OptimizerStepOp,
      ConstantOp, IotaOp, StepNumberOp, SiteOp, RandomBitsOp>(rows, PrecisionClass::Wide);
  return rows;
}

Type xlc::findNarrowType(Operation *op, StringRef name) {
  if (name == "bf16")
    return BFloat16Type::get(op->getContext());
  if (name == "f16")
    return Float16Type::get(op->getContext());
  op->emitError() << "compute is '" << name << "'; it must be bf16 or f16";
  return {};
}

static const Row *findRow(StringRef op) {
  static const std::vector<Row> table = makeTable();
  auto row = llvm::find_if(table, [&](const Row &each) { return each.op == op; });
  return row == table.end() ? nullptr : &*row;
}

bool xlc::hasPrecisionRow(OperationName op) { return findRow(op.getStringRef()) != nullptr; }

PrecisionClass xlc::getPrecisionClass(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (const Row *row = findRow(name))
    return row->is;
  if (op->hasTrait<Movement>())
    return PrecisionClass::Movement;
  return hasFormula(name) && !isa<ScaleOp>(op) ? PrecisionClass::Named : PrecisionClass::Small;
}
