// Evaluates a function: ops in order, each by its rule, calls by evaluating the callee.
#include "Rules.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {
/// Calls nest as deep as this: unit functions in a step in a timeline, with room; a program that
/// calls itself would never end.
constexpr int kMaximalDepth = 16;

template <class E> class Evaluator {
public:
  Evaluator(const Options &options) : functions(options.seed) {}

  LogicalResult call(func::FuncOp function, ArrayRef<Datum<E>> arguments, SmallVectorImpl<Datum<E>> &results) {
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return function.emitError() << "the interpreter needs a body of one block";
    if (arguments.size() != function.getNumArguments())
      return function.emitError() << "takes " << function.getNumArguments() << " arguments, is given "
                                  << arguments.size();
    if (depth == kMaximalDepth)
      return function.emitError() << "calls nest deeper than " << kMaximalDepth;
    DenseMap<Value, Datum<E>> values;
    for (auto [parameter, argument] : llvm::zip(function.getArguments(), arguments))
      values[parameter] = argument;
    ++depth;
    LogicalResult outcome = run(function.front(), values, results);
    --depth;
    return outcome;
  }

private:
  LogicalResult run(Block &block, DenseMap<Value, Datum<E>> &values, SmallVectorImpl<Datum<E>> &results) {
    for (Operation &op : block.without_terminator()) {
      SmallVector<Datum<E>> produced;
      if (failed(evaluate(op, values, produced)))
        return failure();
      for (auto [result, datum] : llvm::zip(op.getResults(), produced))
        values[result] = std::move(datum);
    }
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(values.find(value)->second);
    return success();
  }

  LogicalResult evaluate(Operation &op, DenseMap<Value, Datum<E>> &values, SmallVectorImpl<Datum<E>> &produced) {
    if (auto callOp = dyn_cast<func::CallOp>(op)) {
      SmallVector<Datum<E>> arguments;
      for (Value operand : op.getOperands())
        arguments.push_back(values.find(operand)->second);
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, callOp.getCalleeAttr());
      return callee ? call(callee, arguments, produced) : op.emitOpError("calls a function that is not there");
    }
    Rule<E> rule = findRule<E>(op.getName().getStringRef());
    if (!rule)
      return op.emitError() << "the interpreter has no rule for '" << op.getName() << "'";
    SmallVector<const Datum<E> *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values.find(operand)->second);
    Evaluation<E> evaluation{&op, operands, functions, produced};
    return rule(evaluation);
  }

  Functions<E> functions;
  int depth = 0;
};
} // namespace

namespace xlc::interpret {

template <class E>
LogicalResult evaluate(func::FuncOp function, ArrayRef<Datum<E>> arguments, const Options &options,
                       SmallVectorImpl<Datum<E>> &results) {
  return Evaluator<E>(options).call(function, arguments, results);
}
template LogicalResult evaluate(func::FuncOp, ArrayRef<Datum<double>>, const Options &,
                                SmallVectorImpl<Datum<double>> &);
template LogicalResult evaluate(func::FuncOp, ArrayRef<Datum<float>>, const Options &, SmallVectorImpl<Datum<float>> &);
template LogicalResult evaluate(func::FuncOp, ArrayRef<Datum<Field>>, const Options &, SmallVectorImpl<Datum<Field>> &);

} // namespace xlc::interpret
