// Chooses a strategy for every op. See Propagation.h.
#include "Propagation.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

Value shard::findParameter(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isMovement(op) || op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return value;
}

Section shard::sectionOf(Operation *op) { return {getUnit(op), getRole(op) == Role::F}; }

Problem::Problem(func::FuncOp function, int64_t tp, Stream stream)
    : function(function), tp(tp), stream(std::move(stream)) {
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults())
      for (Operation *user : result.getUsers())
        if (getUnit(user) && getUnit(user) != getUnit(&op))
          crossing.insert(result);
  llvm::StringMap<Value> arguments;
  for (BlockArgument argument : function.getArguments())
    if (auto name = Argument(argument).getParameter())
      arguments[name] = argument;
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (auto name = Result(function, returned.getOperandNumber()).getGradient())
      gradientOf[returned.get()] = arguments.lookup(name);
}

Layout Propagation::layoutOf(Value value) const {
  if (auto it = layouts.find(value); it != layouts.end())
    return it->second;
  if (auto it = problem.parameters.find(value); it != problem.parameters.end())
    return it->second;
  return problem.stream.layouts.lookup(value);
}

std::optional<Cost> Propagation::costOfPath(Value value, const Layout &from, const Layout &to) const {
  auto path = findPath(typeOf(value).getShape(), from, to, problem.tp);
  if (!path)
    return std::nullopt;
  Cost cost;
  for (const Step &step : *path) {
    if (step.kind == Step::Kind::Slice)
      continue;
    if (Value parameter = findParameter(value); parameter && problem.parameters.contains(parameter))
      return std::nullopt; // it stays where it is
    cost.bytes += step.bytes(typeOf(value), problem.tp);
    cost.collectives += 1;
  }
  return cost;
}

std::optional<Cost> Propagation::costOfOperand(Operation *op, Value value, const Layout &to) const {
  Layout from = layoutOf(value);
  if (auto it = gathered.find(value); it != gathered.end() && from != to)
    for (auto &[section, layout] : it->second)
      if (layout == to && section == sectionOf(op))
        return Cost{0, 1, 0};
  auto pin = problem.stream.layouts.find(value);
  if (!from.isPartial || to.isPartial || pin == problem.stream.layouts.end())
    return costOfPath(value, from, to);
  std::optional<Cost> settling = costOfPath(value, from, pin->second), rest = costOfPath(value, pin->second, to);
  if (!settling || !rest)
    return std::nullopt;
  return Cost{settling->bytes + rest->bytes, settling->collectives + rest->collectives, 0};
}

/// What it will take to bring a result to where it belongs: the stream, or its parameter's pieces.
std::optional<Cost> Propagation::costOfResult(Value value, const Layout &layout) const {
  if (auto it = problem.gradientOf.find(value); it != problem.gradientOf.end()) {
    Layout wanted = problem.parameters.lookup(it->second);
    if (!wanted.isSplit())
      return layout.isSplit() ? costOfPath(value, layout, Layout::replicated()) : Cost{};
    if (wanted.isSameSplit(layout))
      return Cost{};
    std::optional<Cost> cost = costOfPath(value, layout, wanted);
    if (cost)
      cost->bytes += int64_t(1) << 48; // where there is another way, the gradient is made in place
    return cost;
  }
  if (auto it = problem.stream.layouts.find(value); it != problem.stream.layouts.end())
    return costOfPath(value, layout, it->second);
  if (layout.isPartial && problem.crossing.contains(value))
    return costOfPath(value, layout, layout.summed());
  return Cost{};
}

/// Splits that the op could take over: of its operands, or one that its result should have.
SmallVector<Seed> Propagation::seedsOf(Operation *op) const {
  SmallVector<Seed> seeds;
  auto add = [&](unsigned number, const Layout &layout) {
    if (layout.isSplit())
      seeds.push_back({number, layout.summed(), problem.tp});
  };
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Layout layout = layoutOf(operand);
    add(number, layout);
    if (auto pin = problem.stream.layouts.find(operand); layout.isPartial && pin != problem.stream.layouts.end())
      add(number, pin->second);
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    unsigned value = op->getNumOperands() + number;
    if (auto it = problem.stream.layouts.find(result); it != problem.stream.layouts.end())
      add(value, it->second);
    if (auto it = problem.gradientOf.find(result); it != problem.gradientOf.end())
      add(value, problem.parameters.lookup(it->second));
  }
  return seeds;
}

/// Blocks that are not full hold padding. It may stand beside elements, but not be added to them unless what it is
/// multiplied by is the padding of a parameter, zero.
bool Propagation::tolerates(Operation *op, const Spread &spread) const {
  bool isEvenly = true;
  for (auto [value, layout] : llvm::zip(op->getOperands(), spread.operands))
    isEvenly &= isEven(typeOf(value).getShape(), layout);
  for (auto [value, layout] : llvm::zip(op->getResults(), spread.results))
    isEvenly &= isEven(typeOf(value).getShape(), layout);
  bool isRefined = llvm::any_of(llvm::zip(op->getOperands(), spread.operands), [&](auto pair) {
    Layout from = layoutOf(std::get<0>(pair)), to = std::get<1>(pair);
    return from.isSplit() && to.parts > from.parts;
  });
  if (isEvenly || (!isRefined && (!spread.isSum || isa<GatherOp>(op))))
    return true;
  return !isRefined && isa<ContractOp>(op) && llvm::any_of(op->getOperands(), findParameter);
}

void Propagation::tryStrategy(Operation *op, const Spread &spread, uint32_t linear,
                              std::optional<Strategy> &best) const {
  Strategy strategy{spread, linear, {}};
  auto &[operands, results, isSum, isPlaced] = strategy.spread;
  bool isPartOfTp = false; // a sum over parts that leaves copies equal has no name
  for (auto [number, layout] : llvm::enumerate(operands)) {
    isPartOfTp |= isSum && layout.isSplit() && layout.parts != problem.tp;
    if (linear >> number & 1)
      layout = layout.unsummed();
  }
  if (isPartOfTp && !linear)
    return;
  for (Layout &layout : results)
    if (linear)
      layout = layout.parts == problem.tp ? layout : layout.unsummed();
  for (auto [value, layout] : llvm::zip(op->getOperands(), operands)) {
    std::optional<Cost> cost = costOfOperand(op, value, layout);
    if (!cost)
      return;
    strategy.cost.bytes += cost->bytes;
    strategy.cost.collectives += cost->collectives;
  }
  for (auto [value, layout] : llvm::zip(op->getResults(), results)) {
    std::optional<Cost> cost = costOfResult(value, layout);
    if (!cost)
      return;
    strategy.cost.bytes += cost->bytes;
    strategy.cost.collectives += cost->collectives;
    strategy.cost.memory += getByteSize(localType(value.getType(), layout));
  }
  if (!best || strategy.cost < best->cost)
    best = strategy;
}

void Propagation::settle(Value value, const Layout &to) {
  std::optional<Cost> cost = costOfPath(value, layoutOf(value), to);
  assert(cost && "it was counted before");
  this->cost.bytes += cost->bytes;
  this->cost.collectives += cost->collectives;
  layouts[value] = settled[value] = to;
}

void Propagation::commit(Operation *op, const Strategy &strategy) {
  Decision &decision = decisions[op];
  decision.operands = strategy.spread.operands;
  decision.results = strategy.spread.results;
  for (auto [value, to] : llvm::zip(op->getOperands(), decision.operands)) {
    if (Layout from = layoutOf(value); from.isPartial && !to.isPartial && value.getDefiningOp()) {
      auto pin = problem.stream.layouts.find(value);
      auto path = findPath(typeOf(value).getShape(), from, to, problem.tp);
      settle(value, pin != problem.stream.layouts.end() ? pin->second : path->front().to);
    }
    Layout from = layoutOf(value);
    decision.from.push_back(from);
    auto &there = gathered[value];
    if (from == to || llvm::is_contained(there, std::pair(sectionOf(op), to)))
      continue;
    std::optional<Cost> added = costOfPath(value, from, to);
    cost.bytes += added->bytes;
    cost.collectives += added->collectives;
    there.push_back({sectionOf(op), to});
  }
  for (auto [value, layout] : llvm::zip(op->getResults(), decision.results)) {
    layouts[value] = layout;
    if (getRole(op) == Role::F)
      cost.memory += getByteSize(localType(value.getType(), layout));
    auto pin = problem.stream.layouts.find(value);
    if (!problem.crossing.contains(value))
      continue;
    if (pin != problem.stream.layouts.end() && layout != pin->second)
      settle(value, pin->second);
    else if (layout.isPartial && pin == problem.stream.layouts.end())
      settle(value, layout.summed());
  }
}

bool Propagation::run(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    std::optional<Strategy> best;
    Spread none;
    none.operands.assign(op->getNumOperands(), Layout());
    none.results.assign(op->getNumResults(), Layout());
    SmallVector<Spread, 4> spreads{none};
    bool isWhole = problem.whole.contains(op);
    for (Seed seed : isWhole ? SmallVector<Seed>() : seedsOf(op)) {
      std::optional<Spread> found = spread(op, seed);
      if (found && tolerates(op, *found))
        spreads.push_back(*found);
      seed.layout.parts = problem.tp; // of what is summed, copies may take a part each
      if (found && found->isSum && (found = spread(op, seed)) && tolerates(op, *found))
        spreads.push_back(*found);
    }
    LinearSets linear = isWhole ? LinearSets() : getLinearSets(op);
    for (const Spread &candidate : spreads) {
      tryStrategy(op, candidate, 0, best);
      for (uint32_t set : linear) {
        auto keeps = [&](unsigned number) {
          Layout from = layoutOf(op->getOperand(number));
          return from.isPartial && from.isSameSplit(candidate.operands[number]);
        };
        bool isAll = carriesTerms(op, candidate, set);
        for (unsigned number = 0; number < op->getNumOperands(); ++number)
          isAll &= !(set >> number & 1) || keeps(number);
        if (isAll)
          tryStrategy(op, candidate, set, best);
      }
    }
    if (!best) {
      stuck = op;
      return false;
    }
    commit(op, *best);
  }
  return true;
}
