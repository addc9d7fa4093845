// One optimizer step on elements, so that a whole parameter and a shard of a bucket share it.
#ifndef XLC_LIB_INTERPRET_OPS_OPTIMIZER_H
#define XLC_LIB_INTERPRET_OPS_OPTIMIZER_H

#include "ByFormula.h"
#include "xlc/Dialect/Graph/Update.h"

namespace xlc::interpret {

/// The formula of an update rule, evaluated op by op on blocks of elements.
template <class E> class UpdateRule {
public:
  /// `group` has the rule and its hyper-parameters; numbers remain as exact as the spec's.
  UpdateRule(graph::OptimizerGroup group, mlir::MLIRContext *context, const Functions<E> &functions)
      : functions(functions) {
    std::lock_guard lock(makingIr);
    mlir::OpBuilder builder(context);
    mlir::Location loc = builder.getUnknownLoc();
    auto type = mlir::RankedTensorType::get({kBlock}, builder.getF64Type());
    llvm::SmallVector<mlir::Type> inputs(2 + group.getStateNames().size(), type);
    inputs.insert(inputs.begin() + kScalars, type.clone({runtime::kGroupNumbers}));
    formula = mlir::func::FuncOp::create(loc, "update", builder.getFunctionType(inputs, {}));
    mlir::Block *body = formula->addEntryBlock();
    builder.setInsertionPointToEnd(body);
    auto step = group.createStep(builder, loc, body->getArgument(0), body->getArgument(1), body->getArgument(kScalars),
                                 body->getArguments().drop_front(kScalars + 1));
    llvm::SmallVector<mlir::Value> results(graph::expandUpdate(graph::Formula(step), step));
    step.erase();
    mlir::func::ReturnOp::create(builder, loc, results);
    findSteps();
  }

  /// Updates `count` elements of p and of its states in place; `scalars` are those of graph.optimizer_step.
  void operator()(E *p, const E *gradients, llvm::ArrayRef<E *> states, size_t count, const Tensor<E> &scalars) const {
    Values values;
    values[formula.get().getArgument(kScalars)] = scalars;
    for (const Step &step : steps)
      if (step.isOnce)
        evaluate(step, values);
    for (size_t first = 0; first < count; first += kBlock) {
      size_t size = std::min<size_t>(kBlock, count - first);
      auto give = [&](unsigned argument, const E *from) {
        Tensor<E> block({kBlock});
        std::copy_n(from + first, size, block.elements.begin());
        values[formula.get().getArgument(argument)] = std::move(block);
      };
      give(0, p), give(1, gradients);
      for (size_t i = 0; i < states.size(); ++i)
        give(kScalars + 1 + i, states[i]);
      for (const Step &step : steps)
        if (!step.isOnce)
          evaluate(step, values);
      auto take = [&](unsigned result, E *to) {
        mlir::Value value = formula.get().front().getTerminator()->getOperand(result);
        std::copy_n(std::get<Tensor<E>>(values.find(value)->second).elements.begin(), size, to + first);
      };
      take(0, p);
      for (size_t i = 0; i < states.size(); ++i)
        take(1 + i, states[i]);
    }
  }

private:
  static constexpr int64_t kBlock = 1024;
  static constexpr unsigned kScalars = 2; ///< the argument

  using Values = FormulaValues<E>;
  struct Step {
    mlir::Operation *op;
    Rule<E> rule;
    bool isOnce; ///< the same for all blocks
  };

  void findSteps() {
    llvm::DenseSet<mlir::Value> once{formula.get().getArgument(kScalars)};
    for (mlir::Operation &op : formula.get().front().without_terminator()) {
      bool isOnce = llvm::all_of(op.getOperands(), [&](mlir::Value value) { return once.contains(value); });
      if (isOnce)
        once.insert(op.getResult(0));
      steps.push_back({&op, findRule<E>(op.getName().getStringRef()), isOnce});
    }
  }

  /// Element-wise ops of floats do not fail.
  void evaluate(const Step &step, Values &values) const {
    (void)evaluateSmallOp(*step.op, step.rule, functions, values);
  }

  const Functions<E> &functions;
  mlir::OwningOpRef<mlir::func::FuncOp> formula;
  std::vector<Step> steps;
};

} // namespace xlc::interpret

#endif
