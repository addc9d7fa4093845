// The factor table: one row per op, with its factors and the operands in which it is linear. Elementwise ops that are
// not linear in any operand need no row.
#include "xlc/Factors/FactorRules.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using xlc::graph::shapeOf;

namespace {

/// Of one factor, its dimension in each operand, then in each result; -1: it does not have it.
using Factor = SmallVector<int64_t, 8>;
using Factors = SmallVector<Factor, 8>;

int64_t rankOf(Value value) { return shapeOf(value).size(); }

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Every operand is needed whole.
Factors whole(Operation *) { return {}; }

Factors elementwise(Operation *op) {
  Factors factors;
  for (int64_t dim = 0; dim < rankOf(op->getResult(0)); ++dim)
    factors.push_back(Factor(op->getNumOperands() + op->getNumResults(), dim));
  return factors;
}

/// The leading dimensions of the first operand, in all values but those of the bits `without`.
template <uint32_t without> Factors rows(Operation *op) {
  Factors factors;
  for (int64_t dim = 0; dim + 1 < rankOf(op->getOperand(0)); ++dim) {
    Factor &factor = factors.emplace_back(op->getNumOperands() + op->getNumResults(), dim);
    for (size_t value = 0; value < factor.size(); ++value)
      if (without >> value & 1)
        factor[value] = -1;
  }
  return factors;
}

Factors constant(Operation *op) {
  return cast<graph::ConstantOp>(op).getValue().isSplat() ? elementwise(op) : Factors();
}

/// What is repeated is split without its operand.
Factors broadcast(Operation *op) {
  ArrayRef<int64_t> x = shapeOf(op->getOperand(0)), y = shapeOf(op->getResult(0));
  Factors factors;
  for (int64_t dim = 0; dim < int64_t(y.size()); ++dim) {
    int64_t own = dim - int64_t(y.size() - x.size());
    factors.push_back({own >= 0 && x[own] == y[dim] ? own : -1, dim});
  }
  return factors;
}

Factors transpose(Operation *op) {
  Factors factors;
  for (auto [dim, from] : llvm::enumerate(cast<graph::TransposeOp>(op).getPermutation()))
    factors.push_back({from, int64_t(dim)});
  return factors;
}

Factors reduce(Operation *op) {
  auto reduction = cast<graph::ReduceOp>(op);
  Factors factors;
  int64_t kept = 0;
  for (int64_t dim = 0; dim < rankOf(reduction.getX()); ++dim) {
    if (!llvm::is_contained(reduction.getDimensions(), dim))
      factors.push_back({dim, kept++});
    else if (reduction.getKind() == graph::Reduction::sum)
      factors.push_back({dim, -1});
  }
  return factors;
}

Factors pad(Operation *op) {
  auto padding = cast<graph::PadOp>(op);
  Factors factors;
  for (auto [dim, low, high] : llvm::enumerate(padding.getLow(), padding.getHigh()))
    if (low == 0 && high == 0)
      factors.push_back({int64_t(dim), -1, int64_t(dim)});
  return factors;
}

Factors contract(Operation *op) {
  auto product = cast<graph::ContractOp>(op);
  StringRef spec = product.getSpec(), places[] = {product.getLettersA(), product.getLettersB(), product.getLettersY()};
  Factors factors;
  std::string seen;
  for (char letter : spec) {
    if (!llvm::isAlpha(letter) || StringRef(seen).contains(letter))
      continue;
    seen.push_back(letter);
    Factor &factor = factors.emplace_back();
    for (StringRef letters : places)
      factor.push_back(letters.contains(letter) ? int64_t(letters.find(letter)) : -1);
  }
  return factors;
}

/// Of a table, of indices into its `dimension` and of the rows that these name; all three are among an op's values, by
/// number. Table dimensions before and after `dimension`, and those of the indices, pass.
Factors lookUp(Operation *op, int64_t dimension, unsigned table, unsigned indices, unsigned rows) {
  auto rankAt = [&](unsigned i) {
    return rankOf(i < op->getNumOperands() ? op->getOperand(i) : op->getResult(i - op->getNumOperands()));
  };
  Factors factors;
  for (int64_t dim = 0; dim < rankAt(table); ++dim) {
    Factor &factor = factors.emplace_back(3, -1);
    factor[table] = dim;
    if (dim != dimension)
      factor[rows] = dim < dimension ? dim : dim - 1 + rankAt(indices);
  }
  for (int64_t dim = 0; dim < rankAt(indices); ++dim) {
    Factor &factor = factors.emplace_back(3, -1);
    factor[indices] = dim, factor[rows] = dimension + dim;
  }
  return factors;
}

/// Along `dimension` a rank looks up what its rows have and zero for the rest: a sum.
Factors gather(Operation *op) { return lookUp(op, cast<graph::GatherOp>(op).getDimension(), 0, 1, 2); }

/// The same with y in the table's place: a rank adds what falls into its rows.
Factors scatterAdd(Operation *op) { return lookUp(op, cast<graph::ScatterAddOp>(op).getDimension(), 2, 0, 1); }

/// Aligned at the last dimension; all but the one that is indexed pass. `x` and `indices` are operand numbers.
Factors alongElements(Operation *op, unsigned x, unsigned indices, int64_t dimension) {
  int64_t rank = rankOf(op->getResult(0)), missing = rank - rankOf(op->getOperand(indices));
  Factors factors;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == dimension)
      continue;
    Factor &factor = factors.emplace_back(3, dim);
    factor[indices] = dim >= missing ? dim - missing : -1;
  }
  return factors;
}
Factors gatherElements(Operation *op) {
  return alongElements(op, 0, 1, cast<graph::GatherElementsOp>(op).getDimension());
}
Factors scatterElementsAdd(Operation *op) {
  return alongElements(op, 1, 0, cast<graph::ScatterElementsAddOp>(op).getDimension());
}

/// base, indices, updates -> y. Indices that name whole rows have size one along them, and are not cut there.
Factors scatterElements(Operation *op) {
  auto scatter = cast<graph::ScatterElementsOp>(op);
  Factors factors = alongElements(op, 0, 1, scatter.getDimension());
  for (Factor &factor : factors) {
    if (factor[1] >= 0 && shapeOf(scatter.getIndices())[factor[1]] == 1)
      factor[1] = -1;
    factor.push_back(factor.front());
  }
  return factors;
}

/// Classes only: the loss is made of three small reductions (Vocabulary.cpp). Rows stay whole, as the batch does.
Factors crossEntropy(Operation *op) { return {{rankOf(op->getOperand(0)) - 1, -1, -1, -1, -1}}; }
Factors crossEntropyBackward(Operation *op) {
  int64_t classes = rankOf(op->getOperand(0)) - 1;
  return {{classes, -1, -1, -1, classes}};
}

/// The first dimension, of all values but those of the bits `without`.
template <uint32_t without> Factors samples(Operation *op) {
  Factor factor(op->getNumOperands() + op->getNumResults(), 0);
  for (size_t value = 0; value < factor.size(); ++value)
    if (without >> value & 1)
      factor[value] = -1;
  return {factor};
}

/// A bias may be the same for all samples.
Factors attentionSamples(Operation *op) {
  Factors factors = samples<0>(op);
  if (Value bias = cast<graph::AttentionOp>(op).getBias(); bias && shapeOf(bias)[0] == 1)
    factors[0][3] = -1;
  return factors;
}

/// Whether ranks own rows of a table, or classes, that ids are compared with: one run each.
bool isIndexed(Operation *op, const Factor &factor) {
  if (auto lookup = dyn_cast<graph::GatherOp>(op))
    return factor[0] == int64_t(lookup.getDimension());
  if (auto scatter = dyn_cast<graph::ScatterAddOp>(op))
    return factor[2] == int64_t(scatter.getDimension()) && factor[1] < 0;
  return op->hasTrait<graph::CrossEntropy>();
}

template <Factors (*factorsOf)(Operation *)> std::optional<Spread> by(Operation *op, const Seed &seed) {
  for (const Factor &factor : factorsOf(op)) {
    if (factor[seed.value] != seed.layout.dim)
      continue;
    Spread result;
    result.isPlaced = isIndexed(op, factor);
    if (seed.layout.outer > 1 && result.isPlaced)
      return std::nullopt;
    size_t operands = op->getNumOperands();
    bool passes = false;
    for (auto [value, dim] : llvm::enumerate(factor)) {
      Layout layout = Layout::split(dim, seed.layout.outer, seed.layout.parts);
      (value < operands ? result.operands : result.results).push_back(layout);
      passes |= value >= operands && dim >= 0;
    }
    result.isSum = !passes && !isa<graph::CrossEntropyOp>(op);
    if (result.isSum)
      result.results.assign(op->getNumResults(), Layout::partial());
    return result;
  }
  return std::nullopt;
}

/// Rows that are scored: sum and count are sums over them.
std::optional<Spread> spreadScored(Operation *op, const Seed &seed) {
  if (seed.layout.dim >= rankOf(op->getOperand(1)))
    return std::nullopt;
  return Spread{{seed.layout, seed.layout}, {Layout::partial(), Layout::partial(), seed.layout}};
}

/// Counting goes on from rank to rank, but not in several runs.
std::optional<Spread> spreadIota(Operation *op, const Seed &seed) {
  bool isCounted = seed.layout.dim == int64_t(cast<graph::IotaOp>(op).getDimension());
  std::optional<Spread> found = isCounted && seed.layout.outer > 1 ? std::nullopt : by<elementwise>(op, seed);
  if (found)
    found->isPlaced = isCounted;
  return found;
}

//===----------------------------------------------------------------------===//
// Linearity
//===----------------------------------------------------------------------===//

LinearSets nonlinear(Operation *) { return {}; }
template <uint32_t... sets> LinearSets in(Operation *) { return {sets...}; }
LinearSets inAll(Operation *op) { return {(1u << op->getNumOperands()) - 1}; }

LinearSets ofCast(Operation *op) {
  auto isFloat = [](Value value) { return !cast<RankedTensorType>(value.getType()).getElementType().isInteger(); };
  return isFloat(op->getOperand(0)) && isFloat(op->getResult(0)) ? LinearSets{1} : LinearSets{};
}
LinearSets ofSelect(Operation *op) {
  LinearSets sets{0b110};
  if (isZero(op->getOperand(2)))
    sets.push_back(0b010);
  if (isZero(op->getOperand(1)))
    sets.push_back(0b100);
  return sets;
}
LinearSets ofPad(Operation *op) { return isZero(op->getOperand(1)) ? LinearSets{1} : LinearSets{}; }
LinearSets ofScatterElements(Operation *op) {
  return cast<graph::ScatterElementsOp>(op).getKind() == graph::Scatter::last ? LinearSets{0b101} : LinearSets{};
}
LinearSets ofReduce(Operation *op) {
  return cast<graph::ReduceOp>(op).getKind() == graph::Reduction::sum ? LinearSets{1} : LinearSets{};
}

/// Of an elementwise op without a row.
constexpr FactorRow ofElementwise = {"", by<elementwise>, nonlinear};

constexpr FactorRow table[] = {
    {"graph.neg", by<elementwise>, in<1>},
    {"graph.cast", by<elementwise>, ofCast},
    {"graph.add", by<elementwise>, inAll},
    {"graph.sub", by<elementwise>, inAll},
    {"graph.mul", by<elementwise>, in<0b01, 0b10>},
    {"graph.div", by<elementwise>, in<0b01>},
    {"graph.scale", by<elementwise>, in<1>},
    {"graph.select", by<elementwise>, ofSelect},
    {"graph.constant", by<constant>, nonlinear},
    {"graph.step_number", by<whole>, nonlinear},
    {"graph.site", by<whole>, nonlinear},
    {"graph.random_bits", by<elementwise>, nonlinear},
    {"graph.iota", spreadIota, nonlinear},
    {"graph.broadcast", by<broadcast>, in<1>},
    {"graph.reshape", spreadReshape, in<1>},
    {"graph.transpose", by<transpose>, in<1>},
    {"graph.slice", spreadSlice, in<1>},
    {"graph.concat", spreadConcat, inAll},
    {"graph.pad", by<pad>, ofPad},
    {"graph.reduce", by<reduce>, ofReduce},
    {"graph.gather", by<gather>, in<1>},
    {"graph.scatter_add", by<scatterAdd>, in<0b10>},
    {"graph.gather_elements", by<gatherElements>, in<1>},
    {"graph.scatter_elements_add", by<scatterElementsAdd>, in<0b10>},
    {"graph.scatter_elements", by<scatterElements>, ofScatterElements},
    {"graph.contract", by<contract>, in<0b01, 0b10>},
    {"graph.softmax", by<rows<0>>, nonlinear},
    {"graph.gelu_backward", by<elementwise>, in<0b10>},
    {"graph.silu_backward", by<elementwise>, in<0b10>},
    // x, weight, bias -> y, mean, rstd
    {"graph.layer_norm", by<rows<0b000110>>, nonlinear},
    // x, weight, mean, rstd, dy -> dx
    {"graph.layer_norm_backward", by<rows<0b000010>>, in<0b10000>},
    // x, mean, rstd, dy -> dweight, dbias
    {"graph.layer_norm_weight_backward", by<rows<0b110000>>, in<0b1000>},
    // x, weight -> y, rstd
    {"graph.rms_norm", by<rows<0b0010>>, nonlinear},
    // x, weight, rstd, dy -> dx
    {"graph.rms_norm_backward", by<rows<0b00010>>, in<0b1000>},
    // x, rstd, dy -> dweight
    {"graph.rms_norm_weight_backward", by<rows<0b1000>>, in<0b100>},
    {"graph.attention", spreadAttention, nonlinear, by<attentionSamples>},
    {"graph.attention_backward", spreadAttention, in<0b100000>},
    {"graph.cross_entropy", by<crossEntropy>, nonlinear, spreadScored},
    {"graph.cross_entropy_backward", by<crossEntropyBackward>, nonlinear},
    // x, w -> y
    {"graph.convolution", by<whole>, in<0b01, 0b10>, by<samples<0b010>>},
    {"graph.convolution_transpose", by<whole>, in<0b01, 0b10>, by<samples<0b010>>},
    {"graph.convolution_weight_backward", by<whole>, in<0b01, 0b10>},
    {"graph.max_pool", by<whole>, nonlinear, by<samples<0>>},
    {"graph.max_pool_backward", by<whole>, in<0b10>},
    {"graph.sum_squares", by<whole>, nonlinear},
    {"graph.optimizer_step", by<whole>, nonlinear},
};

} // namespace

const FactorRow *shard::findFactorRow(OperationName op) {
  const FactorRow *row = llvm::find_if(table, [&](const FactorRow &row) { return row.op == op.getStringRef(); });
  if (row != std::end(table))
    return row;
  return op.hasTrait<graph::Elementwise>() ? &ofElementwise : nullptr;
}

std::optional<Spread> shard::spread(Operation *op, const Seed &seed) {
  const FactorRow *row = findFactorRow(op->getName());
  return row ? row->spread(op, seed) : std::nullopt;
}

std::optional<Spread> shard::spreadBatch(Operation *op, const Seed &seed) {
  const FactorRow *row = findFactorRow(op->getName());
  auto lookup = dyn_cast<graph::GatherOp>(op);
  if (!row || (lookup && seed.value == 0 && seed.layout.dim == int64_t(lookup.getDimension())))
    return std::nullopt;
  return (row->spreadBatch ? row->spreadBatch : row->spread)(op, seed);
}

LinearSets shard::getLinearSets(Operation *op) {
  const FactorRow *row = findFactorRow(op->getName());
  return row ? row->linear(op) : LinearSets();
}

bool shard::carriesTerms(Operation *op, const Spread &spread, uint32_t linear) {
  bool areSplit = true;
  for (auto [number, layout] : llvm::enumerate(spread.operands))
    areSplit &= !(linear >> number & 1) || layout.isSplit();
  return areSplit || (op->hasTrait<graph::Additive>() &&
                      llvm::none_of(spread.results, [](const Layout &layout) { return layout.isSplit(); }));
}

bool shard::isMovement(Operation *op) {
  return op->hasTrait<graph::Movement>() || isa<graph::CastOp, graph::IotaOp>(op) ||
         (isa<graph::ConstantOp>(op) && cast<graph::ConstantOp>(op).getValue().isSplat());
}

bool shard::isElementwise(Operation *op) {
  const FactorRow *row = findFactorRow(op->getName());
  return row && row->spread == by<elementwise> && op->getNumOperands() > 0;
}

bool shard::isZero(Value value) {
  auto constant = graph::skipReshapings(value).getDefiningOp<graph::ConstantOp>();
  if (!constant || !constant.getValue().isSplat())
    return false;
  auto number = dyn_cast<FloatAttr>(constant.getValue().getSplatValue<Attribute>());
  return number && number.getValue().isZero();
}
