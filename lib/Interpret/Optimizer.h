// One optimizer step on one element, so that a whole parameter and a shard of a bucket share it.
#ifndef XLC_LIB_INTERPRET_OPTIMIZER_H
#define XLC_LIB_INTERPRET_OPTIMIZER_H

#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Element.h"

namespace xlc::interpret {

/// The update rules as PyTorch defines them (see graph.optimizer_step).
template <class E> struct Update {
  graph::OptimizerKind kind;
  const Functions<E> &functions;
  E beta1, beta2, eps, decay, momentum;

  /// The hyper-parameters of an optimizer group.
  static Update of(mlir::DictionaryAttr group, const Functions<E> &functions) {
    auto number = [&](llvm::StringRef name) {
      auto value = group.getAs<mlir::FloatAttr>(name);
      return value ? fromDouble<E>(value.getValueAsDouble()) : E();
    };
    auto kind = graph::symbolizeOptimizerKind(group.getAs<mlir::StringAttr>("kind").getValue());
    return {kind.value_or(graph::OptimizerKind::sgd),
            functions,
            number("beta1"),
            number("beta2"),
            number("eps"),
            number("weight_decay"),
            number("momentum")};
  }

  /// Updates p and its states in place; `scalars` are [lr, scale, correction1, correction2].
  void operator()(E &p, E gradient, llvm::ArrayRef<E *> states, llvm::ArrayRef<E> scalars) const {
    E rate = scalars[0], g = scalars[1] * gradient, one = fromInteger<E>(1);
    if (kind == graph::OptimizerKind::adamw)
      p = p * (one - rate * decay);
    else
      g += decay * p;
    if (kind == graph::OptimizerKind::sgd) {
      if (!states.empty())
        g = *states[0] = momentum * *states[0] + g;
      p = p - rate * g;
      return;
    }
    E &m = *states[0], &v = *states[1];
    m += (one - beta1) * (g - m);
    v = beta2 * v + (one - beta2) * g * g;
    p = p - rate / scalars[2] * m / (functions.sqrt(v) / scalars[3] + eps);
  }
};

} // namespace xlc::interpret

#endif
