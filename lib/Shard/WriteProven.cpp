// The last step of Shard: writes a program that its gate accepts, with more messages if necessary.
//
// The search derives from the factor table which pieces an op accepts. The gate derives it again, from one rank's
// program alone, with less information: if it cannot prove that pieces belong together, the op must not be given
// pieces. Every rank then computes all of the op, and of its counterparts in the other units of the class, and all
// layouts are chosen again. A parameter that is needed whole is whole on every rank. Each round leaves fewer ops and
// parameters to split, and a program without any is accepted.
#include "Pins.h"
#include "RankStates.h"
#include "Search.h"
#include "ShardMessages.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

/// A parameter is split, and the op needs it whole.
Message neededWhole(const Problem &problem, const ShardOptions &options, Operation *op) {
  auto say = [](StringRef by, StringRef what) {
    return llvm::formatv("{0} splits {1}, but an operation requires the whole parameter", by, what).str();
  };
  std::string what = "a parameter";
  const LayoutPin *decides = nullptr;
  for (Value operand : op->getOperands()) {
    Value parameter = findParameter(operand);
    if (!parameter || !problem.parameters.contains(parameter))
      continue;
    std::string name = nameOf(problem.function, cast<BlockArgument>(parameter));
    what = "'" + name + "'";
    for (const LayoutPin &pin : options.pins)
      if (matchesPatterns(name, {pin.pattern}))
        decides = &pin;
    break;
  }
  Message message = decides ? makeMessage(options, say("layout", what), *decides)
                            : makeMessage(options, say("tp = " + std::to_string(options.tp), what));
  addNode(message, options, op, "the operation is at node");
  if (decides)
    addNote(message, "without an entry in layout, every rank keeps the whole parameter");
  return message;
}

class ProvenWriter {
public:
  ProvenWriter(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics)
      : problem(problem), options(options), diagnostics(diagnostics) {
    for (Operation &op : problem.function.front().without_terminator())
      ops.push_back(&op);
  }

  bool run() {
    for (;;) {
      Propagation propagation(problem);
      if (!propagation.run(ops)) {
        if (!first || !keepParameters(propagation.stuck)) {
          diagnostics.report(neededWhole(problem, options, propagation.stuck));
          return false;
        }
        continue;
      }
      LocalProgram local = writeLocal(problem, propagation);
      Operation *refused = findRefused(*local.function, problem.tp);
      // With nothing left to give up, the gate says what it refuses.
      if (!refused || !giveUp(local.origins.lookup(refused))) {
        if (first)
          report();
        replace(std::move(local));
        return true;
      }
    }
  }

private:
  /// The op, or where it is whole and still refused, what its operands come from; in the end every op.
  bool giveUp(Operation *op) {
    if (!first)
      first = op ? op : ops.front();
    size_t before = problem.whole.size();
    SmallVector<Operation *> next;
    if (op)
      next.push_back(op);
    while (!next.empty() && problem.whole.size() == before) {
      SmallVector<Operation *> above;
      for (Operation *each : next) {
        problem.whole.insert_range(counterpartsOf(each));
        for (Value operand : each->getOperands())
          if (Operation *from = operand.getDefiningOp())
            above.push_back(from);
      }
      next = std::move(above);
    }
    if (problem.whole.size() == before)
      problem.whole.insert_range(ops);
    return problem.whole.size() > before;
  }

  /// The op at the same place of every unit of the class.
  SmallVector<Operation *> counterpartsOf(Operation *op) {
    ModelUnitAttr unit = getUnit(op);
    if (!unit)
      return {op};
    llvm::MapVector<ModelUnitAttr, SmallVector<Operation *>> units;
    for (Operation *other : ops)
      if (ModelUnitAttr its = getUnit(other); its && its.getClassName() == unit.getClassName())
        units[its].push_back(other);
    size_t place = llvm::find(units[unit], op) - units[unit].begin();
    SmallVector<Operation *> found;
    for (auto &[other, members] : units)
      if (place < members.size() && members[place]->getName() == op->getName())
        found.push_back(members[place]);
    return found;
  }

  /// What the op reads of split parameters is whole on every rank.
  bool keepParameters(Operation *op) {
    size_t before = kept.size();
    for (Value operand : op->getOperands())
      if (Value parameter = findParameter(operand); parameter && problem.parameters.erase(parameter))
        kept.push_back(nameOf(problem.function, cast<BlockArgument>(parameter)));
    return kept.size() > before;
  }

  void replace(LocalProgram local) {
    func::FuncOp global = problem.function, one = local.function.release();
    global->getBlock()->getOperations().insert(global->getIterator(), one);
    global.erase();
  }

  void report() {
    Message message =
        makeMessage(options,
                    llvm::formatv("tp = {0} would split the operands of '{1}' into pieces that cannot be proven to "
                                  "match: every rank computes the whole operation, with more communication",
                                  options.tp, first->getName()),
                    Severity::Warning);
    addNode(message, options, first, "the operation is at node");
    addNote(message, llvm::formatv("number of operations that every rank therefore computes as a whole: {0}",
                                   problem.whole.size()));
    if (!kept.empty())
      addNote(message,
              llvm::formatv("number of parameters that every rank therefore keeps as a whole: {0}; the first is '{1}'",
                            kept.size(), kept.front()));
    diagnostics.report(message);
  }

  Problem &problem;
  const ShardOptions &options;
  Diagnostics &diagnostics;
  SmallVector<Operation *> ops;
  Operation *first = nullptr; ///< what was refused first
  std::vector<std::string> kept;
};

} // namespace

bool shard::writeProven(Problem &problem, const ShardOptions &options, Diagnostics &diagnostics) {
  return ProvenWriter(problem, options, diagnostics).run();
}
