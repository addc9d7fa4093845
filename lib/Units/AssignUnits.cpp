// Finds the units of a model: the repeated layers, and the parts before and after them.
//
// A cut is a position in the stream of ops that only one value crosses:
//
//     gather │ ln ... add │ ln ... add │ ln ... add │ ln ... add │ ln │ contract │ cross_entropy
//     embed  │ layer 0                 │ layer 1                 │ head
//
// Atoms (the ops between two cuts) are compared by structure; scopes are not needed. The run of equal periods that
// covers most ops is the class "layer".
//
// Some values cross everything from one position on: every layer of a decoder reads the result of the encoder. Then no
// position has a single live value. So the longest-lived values are ignored, one more at a time, as long as more of the
// model is found to repeat. An ignored value must pass a whole layer, otherwise it belongs to a layer. A value may also
// belong to a layer first and be read once more later: then only the range up to that last reader is ignored.
#include "xlc/Units/Units.h"

#include "Stream.h"
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;

namespace xlc {
#define GEN_PASS_DEF_ASSIGNUNITSPASS
#include "xlc/Units/Passes.h.inc"
} // namespace xlc

namespace {

/// How many values may cross every layer beside the stream.
constexpr size_t maximumIgnored = 8;

/// From its maker to its reader, with an op between them: what is read at the next place passes no layer at all.
constexpr size_t shortestThatPasses = 2;

/// One way to cut the stream, and what repeats in it.
struct Division {
  std::vector<size_t> ends; ///< per live range, how far it counts
  std::vector<Atom> atoms;
  Stream::Shared shared;
  std::vector<RunElement> elements; ///< per atom
  std::vector<UnitName> names;      ///< per atom
  size_t covered = 0;               ///< ops in repeated units
};

class UnitFinder {
public:
  explicit UnitFinder(func::FuncOp function) : function(function), stream(function) {}

  void run(bool cutsBlocks) {
    Division division = findDivision();
    if (cutsBlocks && division.covered == 0)
      cutBlocks(division);
    assign(division);
    rebuild(division);
  }

private:
  //===--------------------------------------------------------------------===//
  // Cutting
  //===--------------------------------------------------------------------===//

  Division divide(std::vector<size_t> ends) {
    Division division{std::move(ends), {}, {}, {}, {}, 0};
    division.atoms = stream.cut(division.ends);
    division.shared = stream.findShared(division.atoms);
    for (const Atom &atom : division.atoms) {
      bool hasParameter = false;
      auto words = stream.describe(atom, division.shared, hasParameter);
      auto [it, isNew] = structures.try_emplace(std::move(words), (int)structures.size());
      division.elements.push_back({it->second, (int64_t)(atom.end - atom.begin), hasParameter});
    }
    division.names = nameUnits(division.elements);
    for (auto [atom, name] : llvm::zip_equal(division.atoms, division.names))
      division.covered += name.isRepeated ? atom.end - atom.begin : 0;
    return division;
  }

  Division findDivision() {
    const std::vector<LiveRange> &ranges = stream.getRanges();
    std::vector<size_t> longest(ranges.size());
    std::iota(longest.begin(), longest.end(), 0);
    auto rank = [&](size_t i) { return std::pair(-(int64_t)ranges[i].length(), i); };
    llvm::sort(longest, [&](size_t a, size_t b) { return rank(a) < rank(b); });
    std::vector<size_t> ends;
    for (const LiveRange &range : ranges)
      ends.push_back(range.end);
    Division whole = divide(ends), best = whole;
    for (size_t i : ArrayRef(longest).take_front(maximumIgnored)) {
      if (ranges[i].length() < std::max(shortestThatPasses, shortestInstance(best)))
        break;
      std::vector<size_t> lastRead = ends, all = ends;
      lastRead[i] = ranges[i].before, all[i] = ranges[i].begin;
      Division withoutLast = divideByPassing(lastRead, whole), without = divideByPassing(all, whole);
      bool isOwnFirst = withoutLast.covered > without.covered;
      ends = isOwnFirst ? lastRead : all;
      if (Division &next = isOwnFirst ? withoutLast : without; next.covered > best.covered)
        best = std::move(next);
    }
    return best;
  }

  /// Ignores only what passes a whole instance; nothing is covered where that is not so. `whole` ignores nothing.
  Division divideByPassing(const std::vector<size_t> &ends, const Division &whole) {
    Division division = divide(ends);
    std::vector<size_t> needed = keepPassing(division);
    if (needed == division.ends)
      return division;
    if (needed == whole.ends)
      return whole;
    division = divide(std::move(needed));
    if (keepPassing(division) != division.ends)
      division.covered = 0;
    return division;
  }

  /// Stretches of the stream that are one instance of a repeated unit.
  static std::vector<Atom> findInstances(const Division &division) {
    std::vector<Atom> instances;
    const UnitName *previous = nullptr;
    for (auto [atom, name] : llvm::zip_equal(division.atoms, division.names)) {
      if (previous && *previous == name && name.isRepeated)
        instances.back().end = atom.end;
      else if (name.isRepeated)
        instances.push_back(atom);
      previous = &name;
    }
    return instances;
  }

  static size_t shortestInstance(const Division &division) {
    size_t shortest = 0;
    for (const Atom &instance : findInstances(division))
      if (size_t length = instance.end - instance.begin; !shortest || length < shortest)
        shortest = length;
    return shortest;
  }

  /// The ends, where ranges that pass no whole instance count entirely.
  std::vector<size_t> keepPassing(const Division &division) const {
    std::vector<size_t> ends = division.ends;
    std::vector<Atom> instances = findInstances(division);
    for (auto [range, end] : llvm::zip_equal(stream.getRanges(), ends)) { // the first behind its begin is over first
      auto first = llvm::upper_bound(instances, range.begin,
                                     [](size_t begin, const Atom &instance) { return begin < instance.begin; });
      end = first != instances.end() && range.end >= first->end ? end : range.end;
    }
    return ends;
  }

  //===--------------------------------------------------------------------===//
  // Where nothing repeats
  //===--------------------------------------------------------------------===//

  /// Blocks begin with matrices: a bias or a scale belongs to what is before it.
  void cutBlocks(Division &division) const {
    for (auto [atom, element] : llvm::zip_equal(division.atoms, division.elements)) {
      ArrayRef<Operation *> ops = ArrayRef(stream.getOps()).slice(atom.begin, atom.end - atom.begin);
      element.hasParameter = llvm::any_of(ops, [&](Operation *op) { return readsMatrix(op, division); });
    }
    std::vector<UnitName> blocks = nameBlocks(division.elements);
    if (!blocks.empty() && !(blocks.front() == blocks.back()))
      division.names = std::move(blocks);
  }

  bool readsMatrix(Operation *op, const Division &division) const {
    Stream::OpSet seen;
    SmallVector<Operation *> all;
    stream.collectSides(op, division.shared, seen, all);
    all.push_back(op);
    return llvm::any_of(all, [](Operation *each) {
      return llvm::any_of(each->getOperands(), [](Value operand) {
        auto argument = dyn_cast<BlockArgument>(operand);
        return argument && graph::Argument(argument).getParameter() &&
               cast<ShapedType>(operand.getType()).getRank() > 1;
      });
    });
  }

  //===--------------------------------------------------------------------===//
  // Writing the units down
  //===--------------------------------------------------------------------===//

  graph::ModelUnitAttr makeUnit(const UnitName &name) const {
    MLIRContext *context = function->getContext();
    return graph::ModelUnitAttr::get(context, StringAttr::get(context, name.className), name.instance);
  }

  void assign(const Division &division) {
    for (auto [atom, name] : llvm::zip_equal(division.atoms, division.names))
      for (size_t place = atom.begin; place < atom.end; ++place)
        stream.getOps()[place]->setAttr(graph::kUnit, makeUnit(name));
    // What layers share is made by the unit before them, so that the first of them is like the others.
    for (auto [op, reader] : division.shared) {
      size_t atom = reader;
      while (atom > 0 && division.names[atom].isRepeated)
        --atom;
      bool isFirst = division.names[atom].isRepeated;
      op->setAttr(graph::kUnit, makeUnit(isFirst ? UnitName{"embed"} : division.names[atom]));
    }
  }

  /// Moves stream and shared ops, unit by unit, behind copies of the side ops that each unit needs.
  void rebuild(const Division &division) {
    llvm::MapVector<Attribute, SmallVector<Operation *>> sharedOf;
    for (auto [op, reader] : division.shared)
      sharedOf[graph::getUnit(op)].push_back(op);
    Operation *end = function.front().getTerminator();
    SmallVector<Operation *> inOrder;
    UnitName first{"embed"};
    if (!division.names.empty() && division.names.front().isRepeated)
      llvm::append_range(inOrder, sharedOf[makeUnit(first)]);
    Attribute unit;
    for (Operation *op : stream.getOps()) {
      if (graph::getUnit(op) != unit)
        llvm::append_range(inOrder, sharedOf[unit = graph::getUnit(op)]);
      inOrder.push_back(op);
    }
    OpBuilder builder(end);
    Copies copies{division, builder, {}, {}, {}};
    for (Operation *op : inOrder) {
      copySides(op, graph::getUnit(op), copies);
      op->moveBefore(end);
    }
    if (!inOrder.empty())
      copySides(end, graph::getUnit(inOrder.back()), copies);
    eraseOriginals();
  }

  /// Side ops in the unit that is being rebuilt.
  struct Copies {
    const Division &division;
    OpBuilder builder;
    graph::ModelUnitAttr unit;
    IRMapping mapping;
    Stream::OpSet copied;
  };

  void copySides(Operation *op, graph::ModelUnitAttr unit, Copies &copies) const {
    if (unit != copies.unit)
      copies.mapping.clear(), copies.copied.clear();
    copies.unit = unit;
    SmallVector<Operation *> sides;
    stream.collectSides(op, copies.division.shared, copies.copied, sides);
    for (Operation *side : sides)
      copies.builder.clone(*side, copies.mapping)->setAttr(graph::kUnit, unit);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(copies.mapping.lookupOrDefault(operand.get()));
  }

  void eraseOriginals() {
    SmallVector<Operation *> originals;
    for (Operation &op : function.front().without_terminator())
      if (!graph::getUnit(&op))
        originals.push_back(&op);
    for (Operation *op : llvm::reverse(originals))
      op->erase();
  }

  func::FuncOp function;
  Stream stream;
  std::map<Stream::Words, int> structures;
};

struct AssignUnits : xlc::impl::AssignUnitsPassBase<AssignUnits> {
  using AssignUnitsPassBase::AssignUnitsPassBase;

  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      UnitFinder(getOperation()).run(blocks);
  }
};

} // namespace
