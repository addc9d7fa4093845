// Element-wise rules: every position is independent.
#include "Rules.h"
#include "xlc/Runtime/Narrow.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

/// y = f(x) for float or integer x, keeping the element type.
template <class E, class F> static LogicalResult unary(Evaluation<E> &evaluation, F f) {
  Datum<E> y = *evaluation.operands[0];
  std::visit(
      [&](auto &tensor) {
        for (auto &element : tensor.elements)
          element = f(element);
      },
      y);
  return evaluation.give(std::move(y));
}

/// y = f(x) for float x only: the functions that integers do not have.
template <class E, class F> static LogicalResult function(Evaluation<E> &evaluation, F f) {
  Tensor<E> y = evaluation.floats(0);
  for (E &element : y.elements)
    element = f(element);
  return evaluation.give(std::move(y));
}

/// y = f(a, b) where a and b are both floats or both integers; R is the result's element type.
template <class R, class E, class F> static LogicalResult binary(Evaluation<E> &evaluation, F f) {
  return std::visit(
      [&](auto &a) {
        auto &b = std::get<std::decay_t<decltype(a)>>(*evaluation.operands[1]);
        using T = std::decay_t<decltype(a.elements[0])>;
        Tensor<std::conditional_t<std::is_void_v<R>, T, int64_t>> y(a.shape);
        for (size_t i = 0; i < y.elements.size(); ++i)
          y.elements[i] = f(a.elements[i], b.elements[i]);
        return evaluation.give(std::move(y));
      },
      *evaluation.operands[0]);
}

template <class E> LogicalResult ElementwiseRules<E>::neg(Evaluation<E> &e) {
  return unary(e, [](auto x) { return -x; });
}
template <class E> LogicalResult ElementwiseRules<E>::abs(Evaluation<E> &e) {
  return unary(e, [](auto x) { return x < decltype(x)() ? -x : x; });
}
template <class E> LogicalResult ElementwiseRules<E>::sign(Evaluation<E> &e) {
  return unary(e, [](auto x) {
    using T = decltype(x);
    return x < T() ? fromInteger<T>(-1) : x > T() ? fromInteger<T>(1) : x;
  });
}
template <class E> LogicalResult ElementwiseRules<E>::exp(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.exp(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::log(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.log(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::sqrt(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.sqrt(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::tanh(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.tanh(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::erf(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.erf(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::sigmoid(Evaluation<E> &e) {
  E one = fromInteger<E>(1);
  return function(e, [&](E x) { return one / (one + e.functions.exp(-x)); });
}
template <class E> LogicalResult ElementwiseRules<E>::sin(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.sin(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::cos(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.cos(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::atan(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.atan(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::floor(Evaluation<E> &e) {
  return function(e, [&](E x) { return e.functions.floor(x); });
}
template <class E> LogicalResult ElementwiseRules<E>::add(Evaluation<E> &e) {
  return binary<void>(e, [](auto a, auto b) { return a + b; });
}
template <class E> LogicalResult ElementwiseRules<E>::sub(Evaluation<E> &e) {
  return binary<void>(e, [](auto a, auto b) { return a - b; });
}
template <class E> LogicalResult ElementwiseRules<E>::mul(Evaluation<E> &e) {
  return binary<void>(e, [](auto a, auto b) { return a * b; });
}
template <class E> LogicalResult ElementwiseRules<E>::max(Evaluation<E> &e) {
  return binary<void>(e, [](auto a, auto b) { return larger(a, b); });
}
template <class E> LogicalResult ElementwiseRules<E>::min(Evaluation<E> &e) {
  return binary<void>(e, [](auto a, auto b) { return smaller(a, b); });
}

template <class E> LogicalResult ElementwiseRules<E>::div(Evaluation<E> &e) {
  if (auto *divisors = std::get_if<Integers>(e.operands[1]))
    if (llvm::is_contained(divisors->elements, 0))
      return e.op->emitOpError("divides an integer by zero");
  Datum<E> y = *e.operands[0];
  std::visit(
      [&](auto &a) {
        auto &b = std::get<std::decay_t<decltype(a)>>(*e.operands[1]);
        divideEach(a.elements.data(), b.elements.data(), a.elements.size());
      },
      y);
  return e.give(std::move(y));
}

template <class E> LogicalResult ElementwiseRules<E>::pow(Evaluation<E> &e) {
  Tensor<E> y = e.floats(0);
  for (auto [element, exponent] : llvm::zip(y.elements, e.floats(1).elements))
    element = e.functions.pow(element, exponent);
  return e.give(std::move(y));
}

template <class E> LogicalResult ElementwiseRules<E>::logicalNot(Evaluation<E> &e) {
  Integers y = e.integers(0);
  for (int64_t &element : y.elements)
    element = !element;
  return e.give(std::move(y));
}
template <class E> LogicalResult ElementwiseRules<E>::logicalAnd(Evaluation<E> &e) {
  return binary<bool>(e, [](auto a, auto b) { return a != decltype(a)() && b != decltype(b)(); });
}
template <class E> LogicalResult ElementwiseRules<E>::logicalOr(Evaluation<E> &e) {
  return binary<bool>(e, [](auto a, auto b) { return a != decltype(a)() || b != decltype(b)(); });
}

template <class E> LogicalResult ElementwiseRules<E>::isNan(Evaluation<E> &e) {
  Integers y(e.resultShape());
  for (auto [element, x] : llvm::zip(y.elements, e.floats(0).elements))
    element = isUndefined(x);
  return e.give(std::move(y));
}

/// An element as an integer of the given width: i1 is whether it differs from zero.
template <class T> static int64_t asInteger(T x, unsigned width) {
  if (width == 1)
    return x != T();
  int64_t whole = toInteger<T>(x);
  return width == 32 ? int64_t(int32_t(whole)) : whole;
}

template <class E> LogicalResult ElementwiseRules<E>::cast(Evaluation<E> &e) {
  Type to = mlir::cast<RankedTensorType>(e.op->getResult(0).getType()).getElementType();
  return std::visit(
      [&](auto &x) {
        using T = std::decay_t<decltype(x.elements[0])>;
        if (to.isInteger()) {
          Integers y(x.shape);
          for (auto [element, from] : llvm::zip(y.elements, x.elements))
            element = asInteger<T>(from, to.getIntOrFloatBitWidth());
          return e.give(std::move(y));
        }
        Tensor<E> y(x.shape);
        for (auto [element, from] : llvm::zip(y.elements, x.elements))
          if constexpr (std::is_same_v<T, E>)
            element = to.isF32() ? toSingle<E>(from) : from;
          else
            element = fromInteger<E>(from);
        return e.give(std::move(y));
      },
      *e.operands[0]);
}

template <class E> LogicalResult ElementwiseRules<E>::stochasticCast(Evaluation<E> &e) {
  auto op = mlir::cast<graph::StochasticCastOp>(e.op);
  Tensor<E> y = e.floats(0);
  Narrow to = *findNarrow(getElementTypeOrSelf(op.getY()));
  for (auto [element, bits] : llvm::zip(y.elements, e.integers(1).elements))
    element = toNeighbour<E>(element, to, runtime::drawOf(uint32_t(bits), op.getDraw()));
  return e.give(std::move(y));
}

template <class E> LogicalResult ElementwiseRules<E>::scale(Evaluation<E> &e) {
  auto op = llvm::cast<graph::ScaleOp>(e.op);
  if constexpr (std::is_same_v<E, Bounded>) { // kernels multiply by a rounded constant
    E factor = fromDouble<E>((double)op.getNumerator() / (double)op.getDenominator());
    return function(e, [&](E x) { return x * factor; });
  }
  E numerator = fromInteger<E>(op.getNumerator());
  Divisor<E> denominator(fromInteger<E>(op.getDenominator()));
  return function(e, [&](E x) { return x * numerator / denominator; });
}

template <class E> LogicalResult ElementwiseRules<E>::compare(Evaluation<E> &e) {
  if (e.op->hasAttr(graph::kForbids)) {
    Integers answers(e.resultShape(0));
    for (auto [answer, score] : llvm::zip_equal(answers.elements, e.floats(0).elements))
      answer = isForbidden(score);
    return e.give(std::move(answers));
  }
  graph::Predicate predicate = llvm::cast<graph::CompareOp>(e.op).getPredicate();
  return binary<bool>(e, [&](auto a, auto b) {
    bool answers[] = {a == b, a != b, a<b, a <= b, a> b, a >= b}; // in the order of Predicate
    return answers[size_t(predicate)];
  });
}

template <class E> LogicalResult ElementwiseRules<E>::select(Evaluation<E> &e) {
  Datum<E> y = *e.operands[1];
  std::visit(
      [&](auto &tensor) {
        auto &other = std::get<std::decay_t<decltype(tensor)>>(*e.operands[2]);
        for (size_t i = 0; i < tensor.elements.size(); ++i)
          if (!e.integers(0).elements[i])
            tensor.elements[i] = other.elements[i];
      },
      y);
  return e.give(std::move(y));
}

XLC_INSTANTIATE_RULES(xlc::interpret::ElementwiseRules);
