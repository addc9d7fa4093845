// The table of optimizers and their formulas, as defined by PyTorch where PyTorch has them. A formula is written once,
// for one element: a shard is updated like the whole.
#include "xlc/Dialect/Graph/Optimizers.h"
#include "xlc/Dialect/Graph/Update.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::graph;

namespace {

using enum HyperParameter;

/// Weight decay as a part of the gradient (L2 regularisation).
Term addDecay(Update &u) {
  double decay = u.get(WeightDecay);
  return decay == 0 ? u.gradient : u.gradient + u.param * decay;
}

/// Weight decay beside the gradient: the parameter, shrunk.
Term shrink(Update &u) {
  double decay = u.get(WeightDecay);
  return decay == 0 ? u.param : u.param * (1 - u.rate * decay);
}

void sgd(Update &u) {
  Term g = addDecay(u);
  if (!u.states.empty())
    g = u.states[0] = u.states[0] * u.get(Momentum) + g;
  u.param = u.param - u.rate * g;
}

void nesterov(Update &u) {
  Term g = addDecay(u), m = u.states[0] = u.states[0] * u.get(Momentum) + g;
  u.param = u.param - u.rate * (g + m * u.get(Momentum));
}

/// Moves `p` by the two moments of the gradient `g`.
void moveByMoments(Update &u, Term p, Term g) {
  double beta1 = u.get(Beta1), beta2 = u.get(Beta2);
  Term m = u.states[0] = u.states[0] + (g - u.states[0]) * (1 - beta1);
  Term v = u.states[1] = u.states[1] * beta2 + g * g * (1 - beta2);
  Term denominator = sqrt(v) / u.getCorrection2() + u.get(Epsilon);
  u.param = p - u.rate / u.getCorrection1() * (m / denominator);
}

void adam(Update &u) { moveByMoments(u, u.param, addDecay(u)); }
void adamw(Update &u) { moveByMoments(u, shrink(u), u.gradient); }

void lion(Update &u) {
  Term m = u.states[0], g = u.gradient;
  double beta1 = u.get(Beta1), beta2 = u.get(Beta2);
  u.states[0] = m * beta2 + g * (1 - beta2);
  u.param = shrink(u) - u.rate * sign(m * beta1 + g * (1 - beta1));
}

void adagrad(Update &u) {
  Term g = addDecay(u), sum = u.states[0] = u.states[0] + g * g;
  u.param = u.param - u.rate * (g / (sqrt(sum) + u.get(Epsilon)));
}

/// The gradient takes the parameter's place.
void keepGradient(Update &u) { u.param = u.gradient; }

/// "0.9", or "[0.9, 0.999]".
std::string describe(const Optimizer &row, ArrayRef<HyperParameter> numbers) {
  std::string words;
  raw_string_ostream out(words);
  for (HyperParameter number : numbers)
    out << (words.empty() ? "" : ", ") << format("%g", row.find(number)->otherwise);
  if (size_t exponent = words.find("e-0"); exponent != std::string::npos)
    words.erase(exponent + 2, 1); // 1e-8, as people write it
  return numbers.size() == 1 ? words : "[" + words + "]";
}

} // namespace

ArrayRef<Optimizer> xlc::getOptimizers() {
  static const Optimizer table[] = {
      {"sgd",
       {{LearningRate, 1e-3}, {WeightDecay, 0}, {Momentum, 0}},
       {{"momentum", Momentum}},
       6,
       sgd,
       "`g += weight_decay * p; m = momentum * m + g; p -= lr * m`, without `m` if momentum is 0 (torch.optim.SGD)."},
      {"nesterov",
       {{LearningRate, 1e-3}, {WeightDecay, 0}, {Momentum, 0.9}},
       {{"momentum"}},
       8,
       nesterov,
       "`g += weight_decay * p; m = momentum * m + g; p -= lr * (g + momentum * m)` (torch.optim.SGD with "
       "nesterov=True)."},
      {"adam",
       {{LearningRate, 1e-3}, {WeightDecay, 0}, {Beta1, 0.9}, {Beta2, 0.999}, {Epsilon, 1e-8}},
       {{"m"}, {"v"}},
       15,
       adam,
       "`g += weight_decay * p`, then as adamw without decay (Kingma and Ba 2015, Algorithm 1; torch.optim.Adam)."},
      {"adamw",
       {{LearningRate, 1e-3}, {WeightDecay, 0.01}, {Beta1, 0.9}, {Beta2, 0.999}, {Epsilon, 1e-8}},
       {{"m"}, {"v"}},
       15,
       adamw,
       "`p -= lr * weight_decay * p; m += (1 - beta1)(g - m); v = beta2 * v + (1 - beta2) g * g; "
       "p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)` "
       "(Loshchilov and Hutter 2019, Algorithm 2; torch.optim.AdamW)."},
      {"lion",
       {{LearningRate, 1e-4}, {WeightDecay, 0}, {Beta1, 0.9}, {Beta2, 0.99}},
       {{"m"}},
       11,
       lion,
       "`p -= lr * (sign(beta1 * m + (1 - beta1) g) + weight_decay * p); m = beta2 * m + (1 - beta2) g` "
       "(Chen et al. 2023, Algorithm 2)."},
      {"adagrad",
       {{LearningRate, 1e-2}, {WeightDecay, 0}, {Epsilon, 1e-10}},
       {{"sum"}},
       9,
       adagrad,
       "`g += weight_decay * p; sum += g * g; p -= lr * g / (sqrt(sum) + eps)` (Duchi et al. 2011; "
       "torch.optim.Adagrad)."},
  };
  return table;
}

const Optimizer &xlc::getGradientProbe() {
  static const Optimizer probe{"gradient", {},           {},
                               1,          keepGradient, "`p = g`: for comparisons of one step, not for training."};
  return probe;
}

const Optimizer *xlc::findOptimizer(StringRef name) {
  if (name == getGradientProbe().name)
    return &getGradientProbe();
  const Optimizer *row = find_if(getOptimizers(), [&](const Optimizer &o) { return o.name == name; });
  return row == getOptimizers().end() ? nullptr : row;
}

StringRef xlc::getName(HyperParameter which) {
  static constexpr StringLiteral names[] = {"lr", "weight_decay", "momentum", "beta1", "beta2", "eps"};
  static_assert(std::size(names) == std::size(kHyperParameters));
  return names[size_t(which)];
}

const Optimizer::Taken *Optimizer::find(HyperParameter which) const {
  auto row = find_if(takes, [&](const Taken &t) { return t.which == which; });
  return row == takes.end() ? nullptr : &*row;
}

double Optimizer::get(HyperParameter which, const HyperParameters &group, const HyperParameters &own) const {
  const Taken *row = find(which);
  if (!row)
    return 0;
  return group[size_t(which)].value_or(own[size_t(which)].value_or(row->otherwise));
}

std::string xlc::describeTakers(HyperParameter which, StringRef last) {
  SmallVector<StringRef> names;
  for (const Optimizer &row : getOptimizers())
    if (row.find(which))
      names.push_back(row.name);
  StringRef end = names.pop_back_val();
  return names.empty() ? end.str() : (join(names, ", ") + last + end).str();
}

std::string xlc::describeDefault(ArrayRef<HyperParameter> numbers) {
  // The first row's is what others have too, but for those that are named.
  std::string common, others;
  for (const Optimizer &row : getOptimizers()) {
    if (!row.find(numbers.front()))
      continue;
    std::string own = describe(row, numbers);
    if (common.empty())
      common = own;
    else if (own != common)
      others += own + " for " + row.name.str() + ", ";
  }
  return others.empty() ? common : others + "else " + common;
}
