// Searches the layouts of the matrices, class by class, on one instance; the others follow it.
#include "Search.h"
#include "Pins.h"
#include "ShardMessages.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

/// Above this many combinations matrices are improved one after the other instead of all together.
constexpr int64_t kMaximalCombinations = 4096;

/// The layouts of one instance's matrices that cost least.
class ClassSearch {
public:
  ClassSearch(Problem &problem, const Instance &instance, std::vector<std::vector<Layout>> candidates)
      : problem(problem), instance(instance), candidates(std::move(candidates)) {}

  /// None where no combination works without gathering a matrix.
  std::optional<std::vector<Layout>> run() {
    int64_t combinations = 1;
    for (auto &choices : candidates)
      combinations = std::min<int64_t>(combinations * choices.size(), kMaximalCombinations + 1);
    std::vector<size_t> choice(candidates.size(), 0);
    combinations <= kMaximalCombinations ? enumerate(choice, 0) : improve(choice);
    if (!best)
      return std::nullopt;
    std::vector<Layout> layouts;
    for (auto [choices, index] : llvm::zip(candidates, bestChoice))
      layouts.push_back(choices[index]);
    return layouts;
  }

private:
  void score(const std::vector<size_t> &choice) {
    for (auto [matrix, choices, index] : llvm::zip(instance.matrices, candidates, choice))
      problem.parameters[matrix.parameter] = choices[index];
    Propagation propagation(problem);
    if (!propagation.run(instance.ops))
      return;
    Cost cost = propagation.cost;
    for (const Matrix &matrix : instance.matrices)
      cost.memory += getByteSize(localType(matrix.parameter.getType(), problem.parameters[matrix.parameter]));
    if (!best || cost < *best) {
      best = cost;
      bestChoice = choice;
    }
  }

  void enumerate(std::vector<size_t> &choice, size_t matrix) {
    if (matrix == candidates.size())
      return score(choice);
    for (choice[matrix] = 0; choice[matrix] < candidates[matrix].size(); ++choice[matrix])
      enumerate(choice, matrix + 1);
    choice[matrix] = 0;
  }

  /// Coordinate descent: no single matrix can be split better.
  void improve(std::vector<size_t> choice) {
    score(choice);
    for (bool isBetter = true; isBetter;) {
      isBetter = false;
      for (size_t matrix = 0; matrix < candidates.size(); ++matrix) {
        std::optional<Cost> before = best;
        std::vector<size_t> from = best ? bestChoice : choice;
        for (size_t index = 0; index < candidates[matrix].size(); ++index) {
          from[matrix] = index;
          score(from);
        }
        isBetter |= best && (!before || *best < *before);
      }
    }
  }

  Problem &problem;
  const Instance &instance;
  std::vector<std::vector<Layout>> candidates;
  std::optional<Cost> best;
  std::vector<size_t> bestChoice;
};

/// "64 x 192"
std::string sizesOf(Value value) {
  std::string text;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

/// The numbers above 1 that divide a dimension of the matrix.
std::string divisorsOf(Value value, int64_t limit) {
  std::set<int64_t> divisors;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    for (int64_t n = 2; n <= std::min(size, limit); ++n)
      if (size % n == 0)
        divisors.insert(n);
  std::string text;
  for (int64_t n : divisors)
    text += (text.empty() ? "" : n == *divisors.rbegin() ? " or " : ", ") + std::to_string(n);
  return text;
}

Message cannotSplit(func::FuncOp function, ArrayRef<Instance> instances, const Matrix &matrix,
                    const ShardOptions &options) {
  std::string name = nameOf(function, matrix.parameter), divisors = divisorsOf(matrix.parameter, 64);
  Message message = makeMessage(options, llvm::formatv("tp = {0} does not divide any dimension of '{1}', which is {2}",
                                                       options.tp, name, sizesOf(matrix.parameter)));
  addNode(message, options, matrix.reader, "'" + name + "' is an input of node");
  std::optional<std::string> advice = adviseRanks(instances); // what heads would refuse is no advice
  addNote(message, advice             ? *advice
                   : divisors.empty() ? "no tp above 1 divides a dimension of '" + name + "'"
                                      : "tp = " + divisors + " would divide a dimension of '" + name + "'");
  return message;
}

class LayoutSearch {
public:
  LayoutSearch(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics)
      : problem(problem), options(options), diagnostics(diagnostics), function(problem.function) {}

  bool run() {
    std::vector<Instance> instances = findInstances(function);
    if (!findPins(function, options, pinned, diagnostics) || !checkMatrices(instances) || !checkHeads(instances))
      return false;
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (const Instance &instance : instances)
      for (const Matrix &matrix : instance.matrices)
        smallest = std::min(smallest, cast<RankedTensorType>(matrix.parameter.getType()).getNumElements());
    for (size_t i = 0; i < instances.size(); ++i)
      if (!follow(instances[i], ArrayRef(instances).take_front(i)) && !search(instances[i]))
        return false;
    for (auto &[parameter, pin] : pinned)
      problem.parameters.try_emplace(parameter, Layout::split(pin->dimensions.front(), 1, options.tp));
    for (auto &[table, layout] : findVocabularies(function, options.tp, smallest))
      problem.parameters.try_emplace(table, layout);
    return true;
  }

private:
  /// One number is wrong: the first matrix that it does not divide is named, the others are counted.
  bool checkMatrices(ArrayRef<Instance> instances) {
    int64_t count = 0;
    std::optional<Message> first;
    for (const Instance &instance : instances)
      for (const Matrix &matrix : instance.matrices)
        if (findCandidates(matrix, options.tp).empty() && ++count == 1)
          first = cannotSplit(function, instances, matrix, options);
    if (count > 1)
      addNote(*first, llvm::formatv("{0} more matrices cannot be split either", count - 1));
    if (first)
      diagnostics.report(*first);
    return !first;
  }

  bool checkHeads(ArrayRef<Instance> instances) {
    std::optional<Message> message = findUnsharedHeads(instances, options);
    if (message)
      diagnostics.report(*message);
    return !message;
  }

  std::vector<Layout> candidatesOf(const Matrix &matrix) {
    if (auto it = problem.parameters.find(matrix.parameter); it != problem.parameters.end())
      return {it->second}; // shared with a unit that was searched before
    std::vector<Layout> candidates = findCandidates(matrix, options.tp);
    if (auto pin = pinned.find(matrix.parameter); pin != pinned.end())
      llvm::erase_if(candidates, [&](const Layout &layout) { return layout.dim != pin->second->dimensions.front(); });
    return candidates;
  }

  bool isPinned(const Instance &instance) const {
    return llvm::any_of(instance.matrices, [&](const Matrix &matrix) { return pinned.contains(matrix.parameter); });
  }

  /// An instance whose matrices, one by one, are like those of an earlier one takes its layouts.
  bool follow(const Instance &instance, ArrayRef<Instance> earlier) {
    auto isAlike = [](const Matrix &a, const Matrix &b) { return a.parameter.getType() == b.parameter.getType(); };
    for (const Instance &other : earlier) {
      if (other.unit.getClassName() != instance.unit.getClassName() || isPinned(other) || isPinned(instance) ||
          other.matrices.size() != instance.matrices.size() ||
          !llvm::all_of(llvm::zip(other.matrices, instance.matrices),
                        [&](auto pair) { return isAlike(std::get<0>(pair), std::get<1>(pair)); }))
        continue;
      for (auto [matrix, like] : llvm::zip(instance.matrices, other.matrices))
        problem.parameters.try_emplace(matrix.parameter, problem.parameters.lookup(like.parameter));
      return true;
    }
    return false;
  }

  bool search(const Instance &instance) {
    std::vector<std::vector<Layout>> candidates;
    for (const Matrix &matrix : instance.matrices)
      candidates.push_back(candidatesOf(matrix));
    std::optional<std::vector<Layout>> found = ClassSearch(problem, instance, candidates).run();
    if (!found) {
      refuse(instance);
      return false;
    }
    for (auto [matrix, layout] : llvm::zip(instance.matrices, *found))
      problem.parameters[matrix.parameter] = layout;
    return true;
  }

  /// No way was found; the first pin of its matrices has a part in that.
  void refuse(const Instance &instance) {
    std::string text =
        llvm::formatv("tp = {0}: the matrices of unit '{1}' cannot all be split without moving their elements",
                      options.tp, instance.unit.getClassName().getValue());
    auto pin = llvm::find_if(instance.matrices, [&](const Matrix &m) { return pinned.lookup(m.parameter); });
    if (pin == instance.matrices.end()) {
      diagnostics.report(makeMessage(options, text));
      return;
    }
    const LayoutPin &row = *pinned.lookup(pin->parameter);
    Message message = makeMessage(options, text, row);
    addNote(message, llvm::formatv("layout allows a split of '{0}' only along dimension {1}",
                                   nameOf(function, pin->parameter), row.dimensions.front()));
    diagnostics.report(message);
  }

  Problem &problem;
  const ShardOptions &options;
  Diagnostics &diagnostics;
  func::FuncOp function;
  Pins pinned;
};

/// How the parameters that are not split are asked for: a bias that is only ever needed in pieces can live in pieces.
class Requests {
public:
  Requests(const Problem &problem, const Propagation &propagation) : problem(problem), propagation(propagation) {
    for (Operation &op : func::FuncOp(problem.function).front().without_terminator()) {
      const Decision &decision = propagation.decisions.find(&op)->second;
      if (isMovement(&op) && llvm::all_of(decision.from, [](const Layout &from) { return from.isReplicated(); }))
        continue; // made again in pieces, where pieces are needed
      for (auto [operand, from, to] : llvm::zip(op.getOperands(), decision.from, decision.operands))
        if (from.isReplicated())
          need(operand, to);
    }
  }

  llvm::MapVector<Value, SmallVector<Layout, 2>> found;

private:
  void need(Value value, const Layout &layout) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto &layouts = found[value];
      if (!llvm::is_contained(layouts, layout))
        layouts.push_back(layout);
      return;
    }
    if (!isMovement(op) || !propagation.layoutOf(value).isReplicated())
      return;
    std::optional<Spread> pieces;
    if (layout.isSplit())
      pieces = spread(op, {op->getNumOperands(), layout, problem.tp});
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      need(operand, pieces ? pieces->operands[number] : Layout());
  }

  const Problem &problem;
  const Propagation &propagation;
};

/// Vectors that are always needed in the same pieces.
void splitVectors(Problem &problem) {
  SmallVector<Operation *> ops;
  for (Operation &op : problem.function.front().without_terminator())
    ops.push_back(&op);
  Propagation propagation(problem);
  if (!propagation.run(ops))
    return;
  for (auto &[value, layouts] : Requests(problem, propagation).found) {
    auto type = cast<RankedTensorType>(value.getType());
    auto argument = dyn_cast<BlockArgument>(value);
    bool isParameter = argument && Argument(argument).getParameter() && !problem.parameters.contains(value);
    if (isParameter && layouts.size() == 1 && layouts[0].isSplit() &&
        type.getNumElements() == type.getDimSize(layouts[0].dim))
      problem.parameters[value] = layouts[0];
  }
}

} // namespace

bool shard::findLayouts(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics) {
  if (!LayoutSearch(problem, options, diagnostics).run())
    return false;
  splitVectors(problem);
  return true;
}
