// The update of a parameter as ops: the values that an optimizer's formula reads and writes, and the groups of a
// module.
#ifndef XLC_DIALECT_GRAPH_UPDATE_H
#define XLC_DIALECT_GRAPH_UPDATE_H

#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Dialect/Graph/Optimizers.h"

namespace xlc::graph {

/// Module attribute: an array of dictionaries. Each has the kind, each HyperParameter by its name, `clip_value` if
/// gradients are clipped element by element, and `ema_decay` and `ema_start` if an average of the parameters is kept.
inline constexpr llvm::StringLiteral kGroups = "graph.groups";

using runtime::StepNumber;

/// Parameters with the same update rule: a view of one dictionary of `graph.groups`.
class OptimizerGroup {
public:
  /// A running average of the parameters (graph.optimizer_step).
  struct Average {
    double decay;
    int64_t start; ///< up to and including this step the average equals the parameters
  };

  explicit OptimizerGroup(mlir::DictionaryAttr attributes) : attributes(attributes) {}
  /// The values of the spec as such a dictionary.
  static mlir::DictionaryAttr get(mlir::MLIRContext *context, const Optimizer &rule, const HyperParameters &group,
                                  const HyperParameters &own, std::optional<double> clipValue,
                                  std::optional<Average> average);
  /// Fails if `attribute` is not such a dictionary.
  static llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    mlir::Attribute attribute);
  /// The groups of a module; none if it has no optimizer.
  static std::vector<OptimizerGroup> of(mlir::ModuleOp module);

  const Optimizer &getRule() const;
  double get(HyperParameter which) const;
  /// The largest magnitude of an element of a gradient after its factor; none: not limited.
  std::optional<double> getClipValue() const;
  /// None if no average is kept.
  std::optional<Average> getAverage() const;
  /// Names of the states of each parameter of the group: those of the rule, then the average.
  llvm::SmallVector<llvm::StringRef> getStateNames() const;
  /// The update of one parameter, or of a part of it.
  OptimizerStepOp createStep(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value param, mlir::Value grad,
                             mlir::Value scalars, mlir::ValueRange states) const;
  /// The same for operands that may have sixteen bits: they are widened, and the new values of the parameter and its
  /// states are rounded to their type, by random `bits` of each element, or to nearest if `bits` is null.
  llvm::SmallVector<mlir::Value> createRoundedStep(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value param,
                                                   mlir::Value grad, mlir::Value scalars, mlir::ValueRange states,
                                                   mlir::Value bits) const;

private:
  mlir::DictionaryAttr attributes;
};

/// A value of a formula. A number of the step takes the shape of the other operand.
struct Term {
  Formula *formula;
  mlir::Value value;
};
Term operator+(Term x, Term y);
Term operator-(Term x, Term y);
Term operator*(Term x, Term y);
Term operator/(Term x, Term y);
Term operator+(Term x, double y);
Term operator*(Term x, double y);
Term operator-(double x, Term y);
Term sqrt(Term x);
/// -1, 0 or 1.
Term sign(Term x);
/// The number in [-bound, bound] that is nearest to x.
Term clamp(Term x, double bound);

/// A value that an applied step replaces; other steps leave it unchanged.
class Replaced {
public:
  /// `isApplied` has the shape of `old`.
  Replaced(Term old, mlir::Value isApplied) : term(old), isApplied(isApplied) {}
  Replaced &operator=(Term made);
  operator Term() const { return term; }
  mlir::Value getValue() const { return term.value; }

private:
  Term term;
  mlir::Value isApplied;
};

/// One step of a parameter: a formula of the table replaces `param` and `states`. Later reads of these return the new
/// values, so that only `param` is needed until the end of the formula.
class Update {
  mutable OptimizerStepOp op; ///< its accessors are not const
  Formula *formula;

public:
  Update(Formula &formula, OptimizerStepOp op);

  Replaced param;
  Term gradient;                         ///< with its factor (count and clip_norm), and then clipped to clip_value
  llvm::SmallVector<Replaced, 2> states; ///< of the rule
  std::optional<Replaced> average;
  Term rate; ///< the learning rate

  /// 1 - beta1^t and sqrt(1 - beta2^t), t being the number of the step, from 1.
  Term getCorrection1() const { return getNumber(StepNumber::Correction1); }
  Term getCorrection2() const { return getNumber(StepNumber::Correction2); }
  /// Computes the average after the rule's formula, if there is one.
  void moveAverage();
  double get(HyperParameter which) const;

private:
  Term getNumber(StepNumber which) const;
  Replaced replaced(mlir::Value old) const;
};

/// The new parameter and its new states, by the formula of the op's row.
llvm::SmallVector<mlir::Value, 3> expandUpdate(Formula formula, OptimizerStepOp op);

} // namespace xlc::graph

#endif
