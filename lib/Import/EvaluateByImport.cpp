// Evaluation by the import rule: the node is imported alone, on constants, and the reference interpreter computes it.
// So an operator that is rare in shape arithmetic has its formula in one place.
#include "Importer.h"

#include "mlir/IR/Verifier.h"
#include "xlc/Interpret/Interpret.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

std::optional<ElementType> xlc::onnx::findElementType(Type type) {
  for (ElementType each :
       {ElementType::Float, ElementType::Double, ElementType::Int32, ElementType::Int64, ElementType::Bool})
    if (convertType(each, type.getContext()) == type)
      return each;
  return std::nullopt;
}

/// The elements of `result`, rounded to the type of `value`, which it is the value of.
static ConstantTensor toConstant(Value value, const interpret::Datum<double> &result) {
  ConstantTensor tensor(findElementType(cast<RankedTensorType>(value.getType()).getElementType()).value(),
                        shapeOf(value));
  if (const auto *floats = std::get_if<interpret::Tensor<double>>(&result))
    for (auto [i, x] : llvm::enumerate(floats->elements))
      tensor.floats[i] = tensor.type == ElementType::Float ? (float)x : x;
  else
    tensor.ints = std::get<interpret::Integers>(result).elements;
  tensor.compress();
  return tensor;
}

/// What the interpreter may hold for one node: more is left to the program.
constexpr int64_t maximumInterpreted = int64_t(1) << 22;

/// Elements of all values of a block, or more than there may be.
static int64_t countAll(Block &block) {
  int64_t total = 0;
  for (Operation &op : block)
    for (Value value : op.getResults()) {
      int64_t elements = 1;
      for (int64_t size : shapeOf(value))
        if (llvm::MulOverflow(elements, size, elements))
          return INT64_MAX;
      if (llvm::AddOverflow(total, elements, total))
        return INT64_MAX;
    }
  return total;
}

bool xlc::onnx::evaluateByImport(Evaluation &e) {
  OpBuilder builder(e.context);
  Location loc = builder.getUnknownLoc();
  std::vector<ImportedValue> held(e.inputs.size());
  SmallVector<ImportedValue *> inputs;
  for (auto [i, input] : llvm::enumerate(e.inputs)) {
    if (input)
      held[i].constant = std::make_shared<const ConstantTensor>(*input);
    inputs.push_back(input ? &held[i] : nullptr);
  }
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(loc, "known", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function->addEntryBlock());
  NodeImport import(e.node, e.opset, builder, loc, inputs, Value());
  if (!findOperator(e.node)->import(import) || !import.problem.empty())
    return e.fail(import.problem);
  if (llvm::is_contained(import.outputs, Value()) || countAll(function->front()) > maximumInterpreted)
    throw TooManyElements();
  func::ReturnOp::create(builder, loc, import.outputs);
  function->setType(builder.getFunctionType({}, ValueRange(import.outputs).getTypes()));
  ScopedDiagnosticHandler silent(e.context, [](Diagnostic &) { return success(); });
  if (failed(mlir::verify(*function)))
    return e.fail("has an input of a type that the operator does not support");
  SmallVector<interpret::Datum<double>> results;
  if (failed(interpret::evaluate<double>(*function, {}, {}, results)))
    return e.fail("cannot be evaluated");
  for (auto [value, result] : llvm::zip(import.outputs, results))
    e.produce(toConstant(value, result));
  return true;
}
