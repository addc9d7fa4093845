// The functions of a step, and the meaning of their arguments and results: a typed view of names and attributes. Import
// and Differentiate write the attributes, and all later phases read them here.
#ifndef XLC_DIALECT_GRAPH_SIGNATURE_H
#define XLC_DIALECT_GRAPH_SIGNATURE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Dialect/Graph/InputAttributes.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Runtime/States.h"

namespace xlc::graph {

/// On a result of an entry that evaluates: the name of the sum (Entry.h).
inline constexpr llvm::StringLiteral kSum = "graph.sum";
/// On a result of an entry that evaluates: the name of the model's output whose rows for the micro-batch it contains
/// (Entry.h).
inline constexpr llvm::StringLiteral kOutput = "graph.output";

/// The functions of a module by purpose; null if the module does not have it.
///
///   @forward      Import: parameters and inputs -> loss, count, next values of buffers; Differentiate makes an entry
///                 of it (Entry.h)
///   @scalars      sums of a step, whether the previous step was applied (1 before the first) -> loss, norm, factor on
///                 the gradients, whether the step is applied; with a loss scale, this replaces the second argument
///   @update       parameters, gradients, states -> parameters, states
inline constexpr llvm::StringLiteral kForward = "forward", kScalars = "scalars", kUpdate = "update";
inline mlir::func::FuncOp findFunction(mlir::ModuleOp module, llvm::StringRef name) {
  return module.lookupSymbol<mlir::func::FuncOp>(name);
}
inline mlir::func::FuncOp findForward(mlir::ModuleOp module) { return findFunction(module, kForward); }
inline mlir::func::FuncOp findScalars(mlir::ModuleOp module) { return findFunction(module, kScalars); }
inline mlir::func::FuncOp findUpdate(mlir::ModuleOp module) { return findFunction(module, kUpdate); }

/// Of @scalars: the sum of squares of all gradients; whether the previous step was applied, or the loss scale; the
/// factor on the gradients.
inline constexpr unsigned kSumSquaresArgument = 2, kAppliedArgument = 3, kScaleArgument = 3, kFactorResult = 2;

/// The name of state "m" of parameter "w": "w/m"; and the parameter of such a name.
inline std::string nameState(llvm::StringRef parameter, llvm::StringRef state) {
  return (parameter + "/" + state).str();
}
inline llvm::StringRef getOwnerOf(llvm::StringRef state) { return state.rsplit('/').first; }

/// The state that is an average of its parameter: it is initialized with the parameter, and is f32 for all types of
/// parameters.
inline constexpr llvm::StringRef kAverage{runtime::kAverageState.data(), runtime::kAverageState.size()};
inline bool isAverage(llvm::StringRef state) { return state.rsplit('/').second == kAverage; }

/// The kind of an argument of one of these functions: a parameter, an input, or a state.
class Argument {
public:
  Argument(mlir::func::FuncOp function, unsigned number) : attributes(function.getArgAttrDict(number)) {}
  explicit Argument(mlir::BlockArgument argument)
      : Argument(mlir::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber()) {}

  /// The name of the parameter, the input, the gradient or the state, or null.
  mlir::StringAttr getParameter() const { return get<mlir::StringAttr>(kParam); }
  mlir::StringAttr getInput() const { return get<mlir::StringAttr>(kInput); }
  mlir::StringAttr getGradient() const { return get<mlir::StringAttr>(kGrad); }
  mlir::StringAttr getState() const { return get<mlir::StringAttr>(kState); }
  /// Of a state: its parameter.
  llvm::StringRef getOwner() const { return getOwnerOf(getState().getValue()); }

  /// Of a parameter: whether it is not trained; whether forward replaces it (a running average).
  bool isFrozen() const { return has(kFrozen); }
  bool isBuffer() const { return has(kBuffer); }
  bool isTrained() const { return getParameter() && !isFrozen(); }
  /// Of a parameter: whether it stays f32 while others are read in sixteen bits.
  bool isKept() const { return has(kKeep); }
  /// The optimizer group of a parameter, or of the numbers of a step; none if none was assigned.
  std::optional<int64_t> getGroup() const { return getNumber(kGroup); }

  /// Of an input of integers: its values are in [0, limit), except for one additional value in labels.
  std::optional<int64_t> getLimit() const { return getNumber(kLimit); }
  std::optional<int64_t> getIgnored() const { return getNumber(kIgnore); }
  /// The name of the input of which it has the rows of a whole step, or null.
  mlir::StringAttr getWholeOf() const { return get<mlir::StringAttr>(kWholeStep); }
  /// Whether it contains the number of each sample within the global batch, which the runtime writes.
  bool isSampleNumber() const { return has(kSampleNumber); }
  /// Whether the model's file contains no op that reads its values.
  bool isUnread() const { return has(kUnread); }

private:
  template <typename AttrT> AttrT get(llvm::StringRef name) const {
    return attributes ? attributes.getAs<AttrT>(name) : AttrT();
  }
  bool has(llvm::StringRef name) const { return attributes && attributes.contains(name); }
  std::optional<int64_t> getNumber(llvm::StringRef name) const {
    auto number = get<mlir::IntegerAttr>(name);
    return number ? std::optional(number.getInt()) : std::nullopt;
  }

  mlir::DictionaryAttr attributes;
};

/// The kind of a result of one of these functions.
class Result {
public:
  Result(mlir::func::FuncOp function, unsigned number) : attributes(function.getResultAttrDict(number)) {}

  /// The name of the parameter to whose gradient it contributes, or null.
  mlir::StringAttr getGradient() const { return get(kGrad); }
  /// The name of the buffer of which it is the next value, or null.
  mlir::StringAttr getBuffer() const { return get(kBuffer); }
  /// Of an entry that evaluates: the name of the sum, or null.
  mlir::StringAttr getSum() const { return get(kSum); }
  /// Of an entry that evaluates: the name of the output, or null.
  mlir::StringAttr getOutput() const { return get(kOutput); }
  /// Of @update: the name of the parameter or state, or null.
  mlir::StringAttr getParameter() const { return get(kParam); }
  mlir::StringAttr getState() const { return get(kState); }

private:
  mlir::StringAttr get(llvm::StringRef name) const {
    return attributes ? attributes.getAs<mlir::StringAttr>(name) : mlir::StringAttr();
  }

  mlir::DictionaryAttr attributes;
};

} // namespace xlc::graph

#endif
