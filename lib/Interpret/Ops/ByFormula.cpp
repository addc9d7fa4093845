// See ByFormula.h.
#include "ByFormula.h"
#include "xlc/Dialect/Graph/NamedOps.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

/// A function of the op's operands that returns what its formula gives.
OwningOpRef<func::FuncOp> writeFunction(Operation *op) {
  std::lock_guard lock(makingIr);
  OpBuilder builder(op->getContext());
  auto type = builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(op->getLoc(), "formula", type);
  Block *body = function->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Operation *copy = builder.clone(*op);
  copy->setOperands(body->getArguments());
  SmallVector<Value, 3> results = graph::writeFormula(copy);
  copy->erase();
  func::ReturnOp::create(builder, op->getLoc(), results);
  return function;
}

} // namespace

namespace xlc::interpret {

template <class E> LogicalResult evaluateByFormula(Evaluation<E> &e) {
  OwningOpRef<func::FuncOp> function = writeFunction(e.op);
  Block &body = function->front();
  FormulaValues<E> values;
  for (auto [argument, operand] : llvm::zip(body.getArguments(), e.operands))
    values[argument] = *operand;
  for (Operation &op : body.without_terminator())
    if (failed(evaluateSmallOp(op, findRule<E>(op.getName().getStringRef()), e.functions, values)))
      return failure();
  for (Value result : body.getTerminator()->getOperands())
    e.results.push_back(values.find(result)->second);
  return success();
}
template LogicalResult evaluateByFormula(Evaluation<double> &);
template LogicalResult evaluateByFormula(Evaluation<float> &);
template LogicalResult evaluateByFormula(Evaluation<Bounded> &);
template LogicalResult evaluateByFormula(Evaluation<Field> &);

} // namespace xlc::interpret
