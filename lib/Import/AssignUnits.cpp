// Finds the units of a model: the repeated layers, and what stands before and after.
//
// The stream is the ops that depend on a model input and on a parameter, in program order. All other
// ops (constants, positions, broadcast biases, shifted labels) are side ops: they are copied into each
// unit that uses them. A cut is a place in the stream that one value alone crosses:
//
//     gather │ ln ... add │ ln ... add │ ln ... add │ ln ... add │ ln │ contract │ cross_entropy
//     embed  │ layer 0                 │ layer 1                 │ head
//
// Atoms (what lies between cuts) are compared by structure; scopes are not needed. The run of equal
// periods that covers most ops is the class "layer".
#include "xlc/Import/Passes.h"

#include "RepeatedRuns.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_ASSIGNUNITSPASS
#include "xlc/Import/Passes.h.inc"
} // namespace xlc

namespace {

using Atom = SmallVector<Operation *>;

class UnitFinder {
public:
  explicit UnitFinder(func::FuncOp function) : function(function) {}

  void run() {
    collectStream();
    cutStream();
    for (const Atom &atom : atoms)
      describe(atom);
    assign(nameUnits(elements));
    rebuild();
  }

private:
  /// Which of input and parameter a value depends on, as bits.
  enum Source { none = 0, input = 1, parameter = 2, both = 3 };

  int sourceOf(Value value) {
    if (Operation *op = value.getDefiningOp())
      return sources.lookup(op);
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    return function.getArgAttr(number, graph::kParam) ? parameter : input;
  }

  bool isStream(Operation *op) const { return op && sources.lookup(op) == both; }

  void collectStream() {
    for (Operation &op : function.front().without_terminator()) {
      int source = none;
      for (Value operand : op.getOperands())
        source |= sourceOf(operand);
      sources[&op] = source;
      if (source == both)
        stream.push_back(&op);
    }
    if (stream.empty()) // nothing is learned from inputs: everything is one unit
      for (Operation &op : function.front().without_terminator())
        sources[&op] = both, stream.push_back(&op);
  }

  /// Ends an atom wherever a single stream value is still needed later.
  void cutStream() {
    llvm::DenseMap<Operation *, size_t> place;
    for (auto [i, op] : llvm::enumerate(stream))
      place[op] = i;
    std::vector<int> ends(stream.size() + 1, 0); // values whose last use is at i
    int live = 0;
    Atom atom;
    for (auto [i, op] : llvm::enumerate(stream)) {
      atom.push_back(op);
      for (Value result : op->getResults()) {
        size_t last = i;
        for (Operation *user : result.getUsers())
          if (!isa<func::ReturnOp>(user)) // a loss or the next value of a buffer: no later unit reads it
            last = std::max(last, isStream(user) ? place[user] : stream.size());
        if (last > i)
          ++live, ++ends[last];
      }
      live -= ends[i];
      if (live <= 1 || i + 1 == stream.size())
        atoms.push_back(std::exchange(atom, {}));
    }
  }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// A number for the structure of an atom: equal atoms get equal numbers. The structure is spelled out
  /// as a list of words, so that equality is exact and no two structures can collide.
  void describe(const Atom &atom) {
    Words words;
    llvm::DenseMap<Value, unsigned> numbers;
    bool hasParameter = false;
    for (Operation *op : atom)
      describeOp(op, words, numbers, hasParameter);
    auto [it, isNew] = structures.try_emplace(std::move(words), (int)structures.size());
    elements.push_back({it->second, (int64_t)atom.size(), hasParameter});
  }

  using Words = std::vector<const void *>;

  void describeOp(Operation *op, Words &words, llvm::DenseMap<Value, unsigned> &numbers, bool &hasParameter) {
    for (Value operand : op->getOperands())
      if (Operation *side = operand.getDefiningOp(); side && !isStream(side) && !numbers.contains(operand))
        describeOp(side, words, numbers, hasParameter);
    words.push_back(op->getName().getAsOpaquePointer());
    words.push_back(op->getAttrDictionary().getAsOpaquePointer());
    for (Type type : op->getResultTypes())
      words.push_back(type.getAsOpaquePointer());
    for (Value operand : op->getOperands()) {
      auto [it, isNew] = numbers.try_emplace(operand, (unsigned)numbers.size());
      words.push_back(reinterpret_cast<const void *>((uintptr_t)it->second));
      if (!isNew)
        continue;
      // From outside: what kind of thing it is, and its type.
      int source = operand.getDefiningOp() ? both : sourceOf(operand);
      hasParameter |= source == parameter;
      words.push_back(reinterpret_cast<const void *>((uintptr_t)source));
      words.push_back(operand.getType().getAsOpaquePointer());
      if (source == input) // inputs are not interchangeable
        words.push_back(operand.getAsOpaquePointer());
    }
    for (Value result : op->getResults())
      numbers.try_emplace(result, (unsigned)numbers.size());
  }

  //===--------------------------------------------------------------------===//
  // Writing the units down
  //===--------------------------------------------------------------------===//

  void assign(const std::vector<UnitName> &names) {
    for (auto [atom, name] : llvm::zip_equal(atoms, names)) {
      auto unit = graph::ModelUnitAttr::get(function.getContext(),
                                            StringAttr::get(function.getContext(), name.className), name.instance);
      for (Operation *op : atom)
        op->setAttr(graph::kUnit, unit);
    }
  }

  /// Moves the stream, in order, behind copies of the side ops that each unit needs.
  void rebuild() {
    Operation *end = function.front().getTerminator();
    OpBuilder builder(end);
    graph::ModelUnitAttr unit;
    for (Operation *op : stream) {
      if (graph::getUnit(op) != unit)
        copies.clear();
      unit = graph::getUnit(op);
      for (OpOperand &operand : op->getOpOperands())
        operand.set(copy(operand.get(), unit, builder));
      op->moveBefore(end);
    }
    for (OpOperand &operand : end->getOpOperands())
      operand.set(copy(operand.get(), unit, builder));
    SmallVector<Operation *> originals;
    for (Operation &op : function.front().without_terminator())
      if (!graph::getUnit(&op))
        originals.push_back(&op);
    for (Operation *op : llvm::reverse(originals))
      op->erase();
  }

  Value copy(Value value, graph::ModelUnitAttr unit, OpBuilder &builder) {
    Operation *op = value.getDefiningOp();
    if (!op || graph::getUnit(op))
      return value;
    if (Value known = copies.lookupOrNull(value))
      return known;
    for (Value operand : op->getOperands())
      copy(operand, unit, builder);
    Operation *made = builder.clone(*op, copies);
    made->setAttr(graph::kUnit, unit);
    return copies.lookup(value);
  }

  func::FuncOp function;
  llvm::DenseMap<Operation *, int> sources;
  std::vector<Operation *> stream;
  std::vector<Atom> atoms;
  std::vector<RunElement> elements;
  std::map<Words, int> structures;
  IRMapping copies; ///< of side ops, in the unit that is being rebuilt
};

struct AssignUnits : xlc::impl::AssignUnitsPassBase<AssignUnits> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      UnitFinder(getOperation()).run();
  }
};

} // namespace
