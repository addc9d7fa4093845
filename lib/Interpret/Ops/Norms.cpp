// Rules of GELU, SiLU, layer norm and RMS norm, from their formulas.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

namespace {
/// GELU is x times a gate: x/2 (1 + t) with t = erf(x / sqrt 2) or tanh(sqrt(2/pi) (x + 0.044715 x^3)).
template <class E> struct Gelu {
  graph::GeluKind kind;
  const Functions<E> &functions;
  E one = fromInteger<E>(1), half = fromDouble<E>(0.5), cubic = fromDouble<E>(0.044715);
  E rootOfHalf = fromDouble<E>(0.70710678118654752440), rootOf2OverPi = fromDouble<E>(0.79788456080286535588);

  E value(E x) const { return half * x * (one + bend(x)); }

  E derivative(E x) const { return half * (one + bend(x)) + half * x * bendDerivative(x); }

private:
  E inner(E x) const { return rootOf2OverPi * (x + cubic * x * x * x); }

  E bend(E x) const { return kind == graph::GeluKind::erf ? functions.erf(x * rootOfHalf) : functions.tanh(inner(x)); }

  E bendDerivative(E x) const {
    if (kind == graph::GeluKind::erf) // 2/sqrt(pi) exp(-x^2/2) / sqrt 2
      return rootOf2OverPi * functions.exp(-(half * x * x));
    E t = functions.tanh(inner(x));
    return (one - t * t) * rootOf2OverPi * (one + fromInteger<E>(3) * cubic * x * x);
  }
};
} // namespace

template <class E> LogicalResult NormRules<E>::gelu(Evaluation<E> &e) {
  Gelu<E> gelu{cast<graph::GeluOp>(e.op).getKind(), e.functions};
  Tensor<E> y = e.floats(0);
  for (E &element : y.elements)
    element = gelu.value(element);
  return e.give(std::move(y));
}

template <class E> LogicalResult NormRules<E>::geluBackward(Evaluation<E> &e) {
  Gelu<E> gelu{cast<graph::GeluBackwardOp>(e.op).getKind(), e.functions};
  Tensor<E> dx = e.floats(1);
  for (auto [element, x] : llvm::zip(dx.elements, e.floats(0).elements))
    element = element * gelu.derivative(x);
  return e.give(std::move(dx));
}

namespace {
/// 1 / (1 + e^-x).
template <class E> E sigmoidOf(E x, const Functions<E> &functions) {
  E one = fromInteger<E>(1);
  return one / (one + functions.exp(-x));
}
} // namespace

template <class E> LogicalResult NormRules<E>::silu(Evaluation<E> &e) {
  Tensor<E> y = e.floats(0);
  for (E &element : y.elements)
    element = element * sigmoidOf(element, e.functions);
  return e.give(std::move(y));
}

template <class E> LogicalResult NormRules<E>::siluBackward(Evaluation<E> &e) {
  Tensor<E> dx = e.floats(1);
  E one = fromInteger<E>(1);
  for (auto [element, x] : llvm::zip(dx.elements, e.floats(0).elements)) {
    E s = sigmoidOf(x, e.functions);
    element = element * s * (one + x * (one - s));
  }
  return e.give(std::move(dx));
}

template <class E> LogicalResult NormRules<E>::layerNorm(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &weight = e.floats(1), &bias = e.floats(2);
  E epsilon = fromDouble<E>(cast<graph::LayerNormOp>(e.op).getEpsilon().convertToDouble());
  size_t n = x.shape.back();
  Tensor<E> y(x.shape), mean(e.resultShape(1)), rstd(e.resultShape(2));
  E one = fromInteger<E>(1);
  Divisor<E> length(fromInteger<E>(n));
  for (size_t row = 0; row < mean.elements.size(); ++row) {
    const E *in = &x.elements[row * n];
    E sum{}, squares{};
    for (size_t i = 0; i < n; ++i)
      sum += in[i];
    E center = mean.elements[row] = sum / length;
    for (size_t i = 0; i < n; ++i)
      squares += (in[i] - center) * (in[i] - center);
    E factor = rstd.elements[row] = one / e.functions.sqrt(squares / length + epsilon);
    for (size_t i = 0; i < n; ++i)
      y.elements[row * n + i] = (in[i] - center) * factor * weight.elements[i] + bias.elements[i];
  }
  (void)e.give(std::move(y));
  (void)e.give(std::move(mean));
  return e.give(std::move(rstd));
}

template <class E> LogicalResult NormRules<E>::layerNormBackward(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &weight = e.floats(1), &mean = e.floats(2), &rstd = e.floats(3), &dy = e.floats(4);
  size_t n = x.shape.back();
  Divisor<E> length(fromInteger<E>(n));
  Tensor<E> dx(x.shape);
  std::vector<E> xhat(n), g(n);
  for (size_t row = 0; row < mean.elements.size(); ++row) {
    E sum{}, product{};
    for (size_t i = 0; i < n; ++i) {
      xhat[i] = (x.elements[row * n + i] - mean.elements[row]) * rstd.elements[row];
      g[i] = dy.elements[row * n + i] * weight.elements[i];
      sum += g[i];
      product += g[i] * xhat[i];
    }
    E ofG = sum / length, ofProduct = product / length;
    for (size_t i = 0; i < n; ++i)
      dx.elements[row * n + i] = rstd.elements[row] * (g[i] - ofG - xhat[i] * ofProduct);
  }
  return e.give(std::move(dx));
}

template <class E> LogicalResult NormRules<E>::layerNormWeightBackward(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &mean = e.floats(1), &rstd = e.floats(2), &dy = e.floats(3);
  size_t n = x.shape.back();
  Tensor<E> dweight(e.resultShape(0)), dbias(e.resultShape(1));
  for (size_t row = 0; row < mean.elements.size(); ++row)
    for (size_t i = 0; i < n; ++i) {
      E xhat = (x.elements[row * n + i] - mean.elements[row]) * rstd.elements[row];
      dweight.elements[i] += dy.elements[row * n + i] * xhat;
      dbias.elements[i] += dy.elements[row * n + i];
    }
  (void)e.give(std::move(dweight));
  return e.give(std::move(dbias));
}

template <class E> LogicalResult NormRules<E>::rmsNorm(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &weight = e.floats(1);
  E epsilon = fromDouble<E>(cast<graph::RmsNormOp>(e.op).getEpsilon().convertToDouble());
  size_t n = x.shape.back();
  Tensor<E> y(x.shape), rstd(e.resultShape(1));
  for (size_t row = 0; row < rstd.elements.size(); ++row) {
    const E *in = &x.elements[row * n];
    E squares{};
    for (size_t i = 0; i < n; ++i)
      squares += in[i] * in[i];
    E factor = rstd.elements[row] = fromInteger<E>(1) / e.functions.sqrt(squares / fromInteger<E>(n) + epsilon);
    for (size_t i = 0; i < n; ++i)
      y.elements[row * n + i] = in[i] * factor * weight.elements[i];
  }
  (void)e.give(std::move(y));
  return e.give(std::move(rstd));
}

template <class E> LogicalResult NormRules<E>::rmsNormBackward(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &weight = e.floats(1), &rstd = e.floats(2), &dy = e.floats(3);
  size_t n = x.shape.back();
  Tensor<E> dx(x.shape);
  for (size_t row = 0; row < rstd.elements.size(); ++row) {
    size_t begin = row * n;
    E factor = rstd.elements[row], product{};
    for (size_t i = 0; i < n; ++i)
      product += dy.elements[begin + i] * weight.elements[i] * (x.elements[begin + i] * factor);
    E mean = product / fromInteger<E>(n);
    for (size_t i = 0; i < n; ++i)
      dx.elements[begin + i] =
          factor * (dy.elements[begin + i] * weight.elements[i] - x.elements[begin + i] * factor * mean);
  }
  return e.give(std::move(dx));
}

template <class E> LogicalResult NormRules<E>::rmsNormWeightBackward(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &rstd = e.floats(1), &dy = e.floats(2);
  size_t n = x.shape.back();
  Tensor<E> dweight(e.resultShape(0));
  for (size_t row = 0; row < rstd.elements.size(); ++row)
    for (size_t i = 0; i < n; ++i)
      dweight.elements[i] += dy.elements[row * n + i] * (x.elements[row * n + i] * rstd.elements[row]);
  return e.give(std::move(dweight));
}

XLC_INSTANTIATE_RULES(xlc::interpret::NormRules);
