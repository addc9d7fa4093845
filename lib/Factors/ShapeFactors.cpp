// The factor rules of ops that rename a split: reshape, slice and concat, and attention, whose query heads and
// key-value heads are one factor at two sizes.
#include "xlc/Factors/FactorRules.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using xlc::graph::shapeOf;

/// The same elements in row-major order: seen flat, a split is [above, parts, below], and so it is in the other shape
/// where a dimension begins or continues at `above`.
static std::optional<Layout> reshapeLayout(ArrayRef<int64_t> from, ArrayRef<int64_t> to, const Layout &layout) {
  int64_t before = 1;
  for (int64_t size : from.take_front(layout.dim))
    before *= size;
  int64_t above = before * layout.outer, begin = 1;
  for (auto [dim, size] : llvm::enumerate(to)) {
    // The dimension as a whole: also where its blocks are not full.
    bool isSame = layout.outer == 1 && begin == before && size == from[layout.dim];
    if (isSame || (above % begin == 0 && size % (above / begin * layout.parts) == 0))
      return Layout::split(dim, isSame ? 1 : above / begin, layout.parts);
    begin *= size;
  }
  return std::nullopt;
}

std::optional<Spread> shard::spreadReshape(Operation *op, const Seed &seed) {
  ArrayRef<int64_t> x = shapeOf(op->getOperand(0)), y = shapeOf(op->getResult(0));
  bool isForward = seed.value == 0;
  std::optional<Layout> other = reshapeLayout(isForward ? x : y, isForward ? y : x, seed.layout);
  if (!other)
    return std::nullopt;
  return isForward ? Spread{{seed.layout}, {*other}} : Spread{{*other}, {seed.layout}};
}

/// A slice of whole runs is split as they are; along other dimensions a slice changes nothing.
std::optional<Spread> shard::spreadSlice(Operation *op, const Seed &seed) {
  auto slice = cast<graph::SliceOp>(op);
  int64_t dim = seed.layout.dim, offset = slice.getOffsets()[dim], parts = seed.layout.parts;
  int64_t of = shapeOf(slice.getX())[dim], taken = shapeOf(slice.getY())[dim];
  bool isForward = seed.value == 0;
  if (taken == of && offset == 0 && slice.getStrides()[dim] == 1)
    return Spread{{seed.layout}, {seed.layout}};
  int64_t run = (isForward ? of : taken) / seed.layout.outer;
  if (slice.getStrides()[dim] != 1 || offset % run != 0 || taken % run != 0 || of % run != 0)
    return std::nullopt;
  return Spread{{Layout::split(dim, of / run, parts)}, {Layout::split(dim, taken / run, parts)}};
}

/// Runs of equal size stay runs.
std::optional<Spread> shard::spreadConcat(Operation *op, const Seed &seed) {
  auto concat = cast<graph::ConcatOp>(op);
  Spread result;
  unsigned operands = op->getNumOperands();
  int64_t dim = seed.layout.dim;
  if (dim != int64_t(concat.getDimension())) {
    result.operands.assign(operands, seed.layout);
    result.results = {seed.layout};
    return result;
  }
  Value seeded = seed.value < operands ? op->getOperand(seed.value) : op->getResult(0);
  int64_t run = shapeOf(seeded)[dim] / seed.layout.outer;
  auto layoutOf = [&](Value value) { return Layout::split(dim, shapeOf(value)[dim] / run, seed.layout.parts); };
  for (Value operand : op->getOperands()) {
    if (shapeOf(operand)[dim] % run != 0)
      return std::nullopt;
    result.operands.push_back(layoutOf(operand));
  }
  result.results = {layoutOf(op->getResult(0))};
  return result;
}

/// Heads pass, and groups of heads with them: where there are fewer groups than ranks, ranks share a group, and the
/// gradients of its key and value are partial among them. The batch passes, queries and keys are whole.
std::optional<Spread> shard::spreadAttention(Operation *op, const Seed &seed) {
  bool isBackward = isa<graph::AttentionBackwardOp>(op);
  ArrayRef<int64_t> q = shapeOf(op->getOperand(0)), k = shapeOf(op->getOperand(1));
  unsigned operands = op->getNumOperands(), beside = isBackward ? 6 : 3;
  // Where the heads stand in q, k, v, (out, lse, dout), bias, draws -> (dq, dk, dv); lse is [batch, heads, queries].
  auto isLse = [&](unsigned value) { return isBackward ? value == 4 : value == operands + 1; };
  auto isBeside = [&](unsigned value) { return value >= beside && value < operands; };
  auto isGroups = [&](unsigned value) {
    return value == 1 || value == 2 || (isBackward && (value == operands + 1 || value == operands + 2));
  };
  int64_t headDim = isLse(seed.value) || isBeside(seed.value) ? 1 : 2;
  if (seed.layout.dim != headDim || seed.layout.outer != 1)
    return std::nullopt;
  int64_t parts = seed.layout.parts, groups = std::gcd(parts, k[2]);
  bool isShared = groups < parts;
  // A group's heads lie on one rank, or on all ranks that share it and no others.
  if (q[2] % parts != 0 || (isShared && (groups != k[2] || (isBackward && parts != seed.tp))))
    return std::nullopt;
  if (isGroups(seed.value) && isShared)
    return std::nullopt;
  Spread result;
  for (unsigned value = 0; value < operands + op->getNumResults(); ++value) {
    Layout layout = Layout::split(isLse(value) ? 1 : 2, 1, isGroups(value) ? groups : parts);
    if (isBeside(value))
      layout = shapeOf(op->getOperand(value))[1] == 1 ? Layout() : Layout::split(1, 1, parts);
    if (value >= operands && isGroups(value) && isShared)
      layout = layout.unsummed();
    (value < operands ? result.operands : result.results).push_back(layout);
  }
  return result;
}
