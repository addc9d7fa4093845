// Evaluates a function: ops in order, each by its rule on every rank, calls by evaluating the callee.
//
// One rank is the usual case. The ranks of a tensor-parallel group run in lockstep, op by op, so all of them are
// present at an exchange.
#include "Collectives.h"
#include "Rules.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {
/// Calls nest as deep as this: unit functions in a step in a timeline, with room; a program that
/// calls itself would never end.
constexpr int kMaximalDepth = 16;

/// What every rank takes, by rank.
template <class E> using ByRank = std::vector<SmallVector<Datum<E>>>;

/// A value in a function: its own, or one that whoever calls keeps.
template <class E> struct Held {
  Datum<E> own;
  const Datum<E> *lent = nullptr;

  const Datum<E> &get() const { return lent ? *lent : own; }
};
/// What every rank gives.
template <class E> using Given = std::vector<SmallVector<Held<E>>>;

template <class E> class Evaluator {
public:
  Evaluator(const Options &options, size_t ranks) : functions(options.seed), clock(options.clock), ranks(ranks) {}

  LogicalResult call(func::FuncOp function, Given<E> arguments, ByRank<E> &results) {
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
      return function.emitError() << "the interpreter requires a function body of one block";
    if (depth == kMaximalDepth)
      return function.emitError() << "calls nest deeper than " << kMaximalDepth;
    Values values(ranks);
    for (auto [own, given] : llvm::zip(values, arguments)) {
      if (given.size() != function.getNumArguments())
        return function.emitError() << "'" << function.getName() << "' takes " << function.getNumArguments()
                                    << " arguments, but is called with " << given.size();
      for (auto [parameter, argument] : llvm::zip(function.getArguments(), given))
        if (!parameter.use_empty())
          own[parameter] = std::move(argument);
    }
    arguments.clear();
    ++depth;
    LogicalResult outcome = run(function.front(), values, results);
    --depth;
    return outcome;
  }

private:
  using Values = std::vector<DenseMap<Value, Held<E>>>;

  LogicalResult run(Block &block, Values &values, ByRank<E> &results) {
    for (Operation &op : block.without_terminator()) {
      ByRank<E> produced(ranks);
      if (failed(evaluate(op, values, produced)))
        return failure();
      for (auto [own, given] : llvm::zip(values, produced))
        for (auto [result, datum] : llvm::zip(op.getResults(), given))
          if (!result.use_empty())
            own[result].own = std::move(datum);
      forgetDead(op, values);
    }
    Operation *terminator = block.getTerminator();
    for (auto [own, returned] : llvm::zip(values, results))
      for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
        bool isAgain = llvm::is_contained(terminator->getOperands().drop_front(i + 1), value);
        Held<E> &held = own.find(value)->second;
        if (isAgain || held.lent)
          returned.push_back(held.get());
        else
          returned.push_back(std::move(held.own));
      }
    return success();
  }

  /// Frees what no op after this one reads.
  void forgetDead(Operation &op, Values &values) {
    for (Value operand : op.getOperands()) {
      bool isRead = llvm::any_of(operand.getUsers(), [&](Operation *user) { return op.isBeforeInBlock(user); });
      for (auto &own : values)
        if (!isRead)
          own.erase(operand);
    }
  }

  LogicalResult evaluate(Operation &op, Values &values, ByRank<E> &produced) {
    if (auto callOp = dyn_cast<func::CallOp>(op)) {
      Given<E> arguments(ranks);
      for (auto [own, given] : llvm::zip(values, arguments))
        for (Value operand : op.getOperands())
          given.push_back({{}, &own.find(operand)->second.get()});
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, callOp.getCalleeAttr());
      return call(callee, std::move(arguments), produced);
    }
    if (isCollective(&op))
      return meet(op, values, produced);
    Rule<E> rule = findRule<E>(op.getName().getStringRef());
    if (!rule)
      return op.emitError() << "the interpreter has no rule for '" << op.getName() << "'";
    for (auto [own, results] : llvm::zip(values, produced)) {
      SmallVector<const Datum<E> *> operands;
      for (Value operand : op.getOperands())
        operands.push_back(&own.find(operand)->second.get());
      Evaluation<E> evaluation{&op, operands, functions, results, clock};
      if (failed(apply(rule, evaluation)))
        return failure();
    }
    return success();
  }

  LogicalResult meet(Operation &op, Values &values, ByRank<E> &produced) {
    SmallVector<const Datum<E> *> operands;
    for (auto &own : values)
      for (Value operand : op.getOperands())
        operands.push_back(&own.find(operand)->second.get());
    std::vector<Datum<E>> results;
    if (failed(collect<E>(&op, operands, ranks, results)))
      return failure();
    for (auto [given, result] : llvm::zip(produced, results)) {
      roundTo(getElementTypeOrSelf(op.getResult(0)), result); // sums of ranks are rounded once
      given.push_back(std::move(result));
    }
    return success();
  }

  Functions<E> functions;
  runtime::StepClock clock;
  size_t ranks;
  int depth = 0;
};
} // namespace

namespace xlc::interpret {

template <class E>
LogicalResult evaluate(func::FuncOp function, SmallVector<Datum<E>> arguments, const Options &options,
                       SmallVectorImpl<Datum<E>> &results) {
  std::vector<SmallVector<Datum<E>>> given, all;
  given.push_back(std::move(arguments));
  if (failed(evaluateRanks<E>(function, std::move(given), options, all)))
    return failure();
  llvm::append_range(results, std::move(all.front()));
  return success();
}

template <class E>
LogicalResult evaluateLent(func::FuncOp function, ArrayRef<const Datum<E> *> arguments, const Options &options,
                           SmallVectorImpl<Datum<E>> &results) {
  Given<E> given(1);
  for (const Datum<E> *argument : arguments)
    given[0].push_back({{}, argument});
  ByRank<E> all(1);
  if (failed(Evaluator<E>(options, 1).call(function, std::move(given), all)))
    return failure();
  llvm::append_range(results, std::move(all.front()));
  return success();
}

template <class E>
LogicalResult evaluateRanks(func::FuncOp function, std::vector<SmallVector<Datum<E>>> arguments, const Options &options,
                            std::vector<SmallVector<Datum<E>>> &results) {
  results.assign(arguments.size(), {});
  Given<E> given(arguments.size());
  for (auto [own, argument] : llvm::zip(given, arguments))
    for (Datum<E> &datum : argument)
      own.push_back({std::move(datum)});
  return Evaluator<E>(options, results.size()).call(function, std::move(given), results);
}

#define XLC_INSTANTIATE(E)                                                                                             \
  template LogicalResult evaluate(func::FuncOp, SmallVector<Datum<E>>, const Options &, SmallVectorImpl<Datum<E>> &);  \
  template LogicalResult evaluateLent(func::FuncOp, ArrayRef<const Datum<E> *>, const Options &,                       \
                                      SmallVectorImpl<Datum<E>> &);                                                    \
  template LogicalResult evaluateRanks(func::FuncOp, std::vector<SmallVector<Datum<E>>>, const Options &,              \
                                       std::vector<SmallVector<Datum<E>>> &)
XLC_INSTANTIATE(double);
XLC_INSTANTIATE(float);
XLC_INSTANTIATE(Bounded);
XLC_INSTANTIATE(Field);

} // namespace xlc::interpret
