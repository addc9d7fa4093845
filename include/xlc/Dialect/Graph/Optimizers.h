// The optimizers: one row each. What a spec may say of one, which states it keeps, what it costs and its formula are
// columns; the update kernel, the interpreter, the plan of memory, the keys of a spec and docs/Spec.md follow from them.
#ifndef XLC_DIALECT_GRAPH_OPTIMIZERS_H
#define XLC_DIALECT_GRAPH_OPTIMIZERS_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace xlc {
namespace graph {
class Update;
} // namespace graph

/// A number of an update rule that the spec gives.
enum class HyperParameter { LearningRate, WeightDecay, Momentum, Beta1, Beta2, Epsilon };
inline constexpr HyperParameter kHyperParameters[] = {HyperParameter::LearningRate, HyperParameter::WeightDecay,
                                                      HyperParameter::Momentum,     HyperParameter::Beta1,
                                                      HyperParameter::Beta2,        HyperParameter::Epsilon};

/// Its name in the IR: "lr", "weight_decay", "momentum", "beta1", "beta2", "eps".
llvm::StringRef getName(HyperParameter which);

/// A value of each hyper-parameter, by HyperParameter; none where nothing was said.
using HyperParameters = std::array<std::optional<double>, std::size(kHyperParameters)>;

struct Optimizer {
  /// A number that the rule takes, and its value where the spec gives none.
  struct Taken {
    HyperParameter which;
    double otherwise;
  };
  /// A tensor of the parameter's shape, kept from step to step, zero at first.
  struct State {
    llvm::StringLiteral name;
    std::optional<HyperParameter> unlessZero = std::nullopt; ///< kept only where this number is not 0
  };

  llvm::StringLiteral name;  ///< of `optimizer.type`
  std::vector<Taken> takes;  ///< in the order of HyperParameter
  std::vector<State> states; ///< in the order of the update's operands and results
  int64_t flops;             ///< per element of a parameter, with decay and momentum
  void (*formula)(graph::Update &);
  llvm::StringLiteral doc; ///< the formula for people, and its source

  /// The number that a group of parameters has: what its spec says, else the optimizer's own; 0 where the rule takes none.
  double get(HyperParameter which, const HyperParameters &group, const HyperParameters &own) const;
  /// The row's entry, or null.
  const Taken *find(HyperParameter which) const;
};

/// All rows, in the order of the documentation.
llvm::ArrayRef<Optimizer> getOptimizers();

/// The rule that leaves each gradient in the place of its parameter: no spec names it. A step with it is what a check of
/// gradients reads (include/xlc/Reference).
const Optimizer &getGradientProbe();

/// The row of a name, also of the probe, or null.
const Optimizer *findOptimizer(llvm::StringRef name);

/// Names of those that take a number, for people: "adam, adamw".
std::string describeTakers(HyperParameter which, llvm::StringRef last = ", ");
/// What holds where the spec gives none, for people: "0.01 for adamw, else 0"; two numbers are a list, "[0.9, 0.999]".
std::string describeDefault(llvm::ArrayRef<HyperParameter> numbers);

} // namespace xlc

#endif
