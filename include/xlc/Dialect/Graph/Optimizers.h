// The optimizers: one row each. The keys of the spec, the states, the cost and the formula are columns. The update
// kernel, the interpreter, the memory plan, the keys of a spec and docs/Spec.md follow from them.
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

/// A number of an update rule that the spec may set.
enum class HyperParameter { LearningRate, WeightDecay, Momentum, Beta1, Beta2, Epsilon };
inline constexpr HyperParameter kHyperParameters[] = {HyperParameter::LearningRate, HyperParameter::WeightDecay,
                                                      HyperParameter::Momentum,     HyperParameter::Beta1,
                                                      HyperParameter::Beta2,        HyperParameter::Epsilon};

/// Its name in the IR: "lr", "weight_decay", "momentum", "beta1", "beta2", "eps".
llvm::StringRef getName(HyperParameter which);

/// A value of each hyper-parameter, by HyperParameter; none if the spec does not set it.
using HyperParameters = std::array<std::optional<double>, std::size(kHyperParameters)>;

struct Optimizer {
  /// A number of the rule, and its default.
  struct Taken {
    HyperParameter which;
    double otherwise;
  };
  /// A tensor of the parameter's shape that is kept from step to step, initially zero.
  struct State {
    llvm::StringLiteral name;
    std::optional<HyperParameter> unlessZero = std::nullopt; ///< kept only if this number is not 0
  };

  llvm::StringLiteral name;  ///< of `optimizer.type`
  std::vector<Taken> takes;  ///< in the order of HyperParameter
  std::vector<State> states; ///< in the order of the update's operands and results
  int64_t flops;             ///< per element of a parameter, with decay and momentum
  void (*formula)(graph::Update &);
  llvm::StringLiteral doc; ///< the formula for human readers, and its source

  /// The number for a group of parameters: the group's in the spec, else the optimizer's own; 0 if the rule does not
  /// have the number.
  double get(HyperParameter which, const HyperParameters &group, const HyperParameters &own) const;
  /// The row's entry for a number, or null.
  const Taken *find(HyperParameter which) const;
};

/// All rows, in the order of the documentation.
llvm::ArrayRef<Optimizer> getOptimizers();

/// The rule that stores each gradient in the place of its parameter. Specs cannot select it. A check of gradients reads
/// the result of a step with it (include/xlc/Reference).
const Optimizer &getGradientProbe();

/// The row with this name, including the probe, or null.
const Optimizer *findOptimizer(llvm::StringRef name);

/// Names of the optimizers with this number, for messages: "adam, adamw".
std::string describeTakers(HyperParameter which, llvm::StringRef last = ", ");
/// The default if the spec gives no value, for messages: "0.01 for adamw, else 0"; two numbers are a list, "[0.9,
/// 0.999]".
std::string describeDefault(llvm::ArrayRef<HyperParameter> numbers);

} // namespace xlc

#endif
