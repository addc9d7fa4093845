// Recognises GELU: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) and x/2 (1 + erf(x / sqrt 2)).
//
// Exporters associate the products in many ways, so nothing is matched by order: the factors of the
// outer product are collected, and the argument of tanh or erf is read as a polynomial in x.
#include "EraseDead.h"
#include "xlc/Raise/MatchValues.h"
#include "xlc/Raise/Raise.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_RAISEGELUPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

namespace {

/// Coefficients of 1, x, x^2, x^3.
using Polynomial = std::array<double, 4>;

constexpr int maximumProductDepth = 12;

/// `value` as a polynomial of degree 3 or less in `x`; none when it is something else.
std::optional<Polynomial> readPolynomial(Value value, Value x, int depth = 0) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> constant = findSplat(value))
    return Polynomial{*constant, 0, 0, 0};
  double factor = 1;
  if (Value inner = value; depth < maximumProductDepth && peelFactor(inner, factor)) {
    std::optional<Polynomial> p = readPolynomial(inner, x, depth + 1);
    for (size_t i = 0; p && i < p->size(); ++i)
      (*p)[i] *= factor;
    return p;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<graph::AddOp, graph::MulOp>(op) || depth == maximumProductDepth)
    return std::nullopt;
  std::optional<Polynomial> a = readPolynomial(op->getOperand(0), x, depth + 1);
  std::optional<Polynomial> b = a ? readPolynomial(op->getOperand(1), x, depth + 1) : std::nullopt;
  if (!b)
    return std::nullopt;
  Polynomial result{};
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      if (isa<graph::MulOp>(op) && i + j < 4)
        result[i + j] += (*a)[i] * (*b)[j];
      else if (isa<graph::MulOp>(op) && (*a)[i] * (*b)[j] != 0)
        return std::nullopt;
  for (size_t i = 0; i < 4 && isa<graph::AddOp>(op); ++i)
    result[i] = (*a)[i] + (*b)[i];
  return result;
}

bool isNear(const Polynomial &a, const Polynomial &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-5 * std::max(std::abs(b[i]), 1e-3))
      return false;
  return true;
}

/// The kind of GELU whose tanh or erf has this argument.
std::optional<graph::GeluKind> findKind(Operation *op, Value x) {
  if (!isa<graph::TanhOp, graph::ErfOp>(op))
    return std::nullopt;
  std::optional<Polynomial> p = readPolynomial(op->getOperand(0), x);
  double c = std::sqrt(2 / M_PI);
  if (p && isa<graph::TanhOp>(op) && isNear(*p, {0, c, 0, 0.044715 * c}))
    return graph::GeluKind::tanh;
  if (p && isa<graph::ErfOp>(op) && isNear(*p, {0, std::sqrt(0.5), 0, 0}))
    return graph::GeluKind::erf;
  return std::nullopt;
}

/// The factors of a product: the constant ones multiplied, the others listed.
void collectFactors(Value value, double &constant, SmallVectorImpl<Value> &factors, int depth = 0) {
  if (depth < maximumProductDepth && peelFactor(value, constant))
    return collectFactors(value, constant, factors, depth + 1);
  auto mul = value.getDefiningOp<graph::MulOp>();
  if (!mul || depth == maximumProductDepth)
    return factors.push_back(value);
  collectFactors(mul.getA(), constant, factors, depth + 1);
  collectFactors(mul.getB(), constant, factors, depth + 1);
}

/// The tanh or erf in 1 + tanh(...); null when `value` is something else.
Operation *findInner(Value value) {
  auto add = value.getDefiningOp<graph::AddOp>();
  if (!add)
    return nullptr;
  if (findSplat(add.getA()) == 1.0)
    return add.getB().getDefiningOp();
  return findSplat(add.getB()) == 1.0 ? add.getA().getDefiningOp() : nullptr;
}

/// Whether `op` is GELU of some x, and which.
std::optional<std::pair<graph::GeluKind, Value>> matchGelu(Operation *op) {
  double constant = 1;
  SmallVector<Value> factors;
  collectFactors(op->getResult(0), constant, factors);
  if (factors.size() != 2 || std::abs(constant - 0.5) > 1e-6)
    return std::nullopt;
  for (int i = 0; i < 2; ++i)
    if (Operation *inner = findInner(factors[i]))
      if (std::optional<graph::GeluKind> kind = findKind(inner, factors[1 - i]))
        return std::pair(*kind, factors[1 - i]);
  return std::nullopt;
}

struct RaiseGelu : xlc::impl::RaiseGeluPassBase<RaiseGelu> {
  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (isa<graph::MulOp, graph::DivOp, graph::ScaleOp>(op))
        products.push_back(op);
    });
    bool hasFound = false;
    for (Operation *op : products)
      if (auto found = matchGelu(op)) {
        hasFound = true;
        OpBuilder builder(op);
        Value x = found->second;
        op->getResult(0).replaceAllUsesWith(
            graph::GeluOp::create(builder, op->getLoc(), x.getType(), found->first, x).getY());
      }
    eraseDead(getOperation(), hasFound);
  }
};

} // namespace
