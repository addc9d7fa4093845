// Evaluates ops by the small ops of their formulas.
#ifndef XLC_LIB_INTERPRET_OPS_BYFORMULA_H
#define XLC_LIB_INTERPRET_OPS_BYFORMULA_H

#include "Rules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <mutex>

namespace xlc::interpret {

/// Held while IR is created: kernels are evaluated on threads, which otherwise only read.
inline std::mutex makingIr;

/// The values of one run through a block of small ops.
template <class E> using FormulaValues = llvm::DenseMap<mlir::Value, Datum<E>>;

/// Evaluates one small op, whose operands are in `values`, and adds its results.
template <class E>
llvm::LogicalResult evaluateSmallOp(mlir::Operation &op, Rule<E> rule, const Functions<E> &functions,
                                    FormulaValues<E> &values) {
  llvm::SmallVector<const Datum<E> *> operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(&values.find(operand)->second);
  llvm::SmallVector<Datum<E>> results;
  Evaluation<E> evaluation{&op, operands, functions, results};
  if (failed(apply(rule, evaluation)))
    return llvm::failure();
  for (auto [result, datum] : llvm::zip(op.getResults(), results))
    values[result] = std::move(datum);
  return llvm::success();
}

/// The rule of an op that has a formula and no rule of its own.
template <class E> llvm::LogicalResult evaluateByFormula(Evaluation<E> &e);

} // namespace xlc::interpret

#endif
