// One optimizer step on elements, so that a whole parameter and a shard of a bucket share it.
#ifndef XLC_LIB_INTERPRET_OPTIMIZER_H
#define XLC_LIB_INTERPRET_OPTIMIZER_H

#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Element.h"

namespace xlc::interpret {

/// The update rules as PyTorch defines them; graph.optimizer_step says what they are.
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

  /// Updates `count` elements of p and of its states in place; `scalars` are [lr, scale, correction1, correction2].
  void operator()(E *p, const E *gradients, llvm::ArrayRef<E *> states, size_t count, llvm::ArrayRef<E> scalars) const {
    for (size_t first = 0; first < count; first += kBlock) {
      llvm::SmallVector<E *> own;
      for (E *state : states)
        own.push_back(state + first);
      updateBlock(p + first, gradients + first, own, std::min(kBlock, count - first), scalars);
    }
  }

private:
  static constexpr size_t kBlock = 256;

  void updateBlock(E *p, const E *gradients, llvm::ArrayRef<E *> states, size_t count,
                   llvm::ArrayRef<E> scalars) const {
    E rate = scalars[0], one = fromInteger<E>(1), kept = one - rate * decay, above[kBlock], below[kBlock];
    for (size_t i = 0; i < count; ++i) {
      E g = scalars[1] * gradients[i];
      if (kind == graph::OptimizerKind::adamw)
        p[i] = p[i] * kept;
      else
        g += decay * p[i];
      above[i] = kind == graph::OptimizerKind::sgd ? descend(g, states, i) : adapt(g, states, i);
    }
    if (kind == graph::OptimizerKind::sgd) {
      for (size_t i = 0; i < count; ++i)
        p[i] = p[i] - rate * above[i];
      return;
    }
    E step = rate / scalars[2];
    Divisor<E> correction(scalars[3]);
    for (size_t i = 0; i < count; ++i) {
      above[i] = step * above[i];
      below[i] = functions.sqrt(states[1][i]) / correction + eps;
    }
    divideEach(above, below, count);
    for (size_t i = 0; i < count; ++i)
      p[i] = p[i] - above[i];
  }

  /// The direction of SGD, with its momentum.
  E descend(E g, llvm::ArrayRef<E *> states, size_t i) const {
    return states.empty() ? g : states[0][i] = momentum * states[0][i] + g;
  }

  /// Both moments of Adam; the first.
  E adapt(E g, llvm::ArrayRef<E *> states, size_t i) const {
    E one = fromInteger<E>(1), &m = states[0][i], &v = states[1][i];
    m += (one - beta1) * (g - m);
    v = beta2 * v + (one - beta2) * g * g;
    return m;
  }
};

} // namespace xlc::interpret

#endif
