// Splits one long function into unit functions and calls on them.
//
//   @micro_batch:   embed_F  layer_F  layer_F  head_F | head_B  layer_B  layer_B  embed_B
//   @evaluate:      embed_E  layer_E  layer_E  head_E
//
// A section is the part of one unit in one pass. Sections are cut out in the order of their first op, but after those
// that they depend on: if the user cuts a unit in the middle, contributions to one gradient may be added up before all
// are reached. If backward is split, a unit's section I precedes its W, whichever op comes first.
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/SetVector.h"

namespace xlc {
#define GEN_PASS_DEF_OUTLINEUNITSPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

enum class Half { F, B, I, W, E }; ///< E: forward of an entry that evaluates

struct Section {
  ModelUnitAttr unit;
  Half half;
  SmallVector<Operation *> ops;
  SmallVector<Value> values, sites, params; ///< what it needs from outside
  SmallVector<Value> outs, stores;          ///< what others need of it; what the micro-batch adds up or replaces
};

std::string nameOf(const Section &section) {
  return (section.unit.getClassName().getValue() + "_" + StringRef("FBIWE").substr(int(section.half), 1)).str();
}

/// Two parameters may have one gradient: the biases of two branches that are added. Each gets a value of its own, since
/// each is stored in a place of its own. So does a gradient that is also what another unit waits for, where I and W are
/// apart: W stores it.
void separateReturned(func::FuncOp function, bool splitBackward) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  DenseSet<Value> seen;
  for (OpOperand &returned : terminator->getOpOperands()) {
    Operation *op = returned.get().getDefiningOp();
    bool isFirst = seen.insert(returned.get()).second;
    bool isOfI = splitBackward && op && getRole(op) == Role::I;
    if (!op || (isFirst && !isOfI))
      continue;
    auto copy = CastOp::create(builder, op->getLoc(), returned.get().getType(), returned.get());
    copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (isOfI)
      copy->setAttr(kRole, RoleAttr::get(op->getContext(), Role::W));
    returned.set(copy);
  }
}

/// Sections in order of their first op. Fails where an op has no unit or role.
LogicalResult findSections(func::FuncOp function, Half forward, bool splitBackward, std::vector<Section> &sections,
                           DenseMap<Operation *, size_t> &sectionOf) {
  DenseMap<std::pair<Attribute, int>, size_t> index;
  auto open = [&](ModelUnitAttr unit, Half half) {
    auto [it, isNew] = index.try_emplace({unit, int(half)}, sections.size());
    if (isNew)
      sections.push_back({unit, half, {}, {}, {}, {}, {}, {}});
    return it->second;
  };
  for (Operation &op : function.front().without_terminator()) {
    ModelUnitAttr unit = getUnit(&op);
    std::optional<Role> role = getRole(&op);
    if (!unit || !role)
      return op.emitError("op must have a unit and a role");
    if (isa<SiteOp>(op))
      continue;
    Half half = *role == Role::F ? forward : !splitBackward ? Half::B : *role == Role::I ? Half::I : Half::W;
    if (half == Half::W)
      open(unit, Half::I);
    size_t section = open(unit, half);
    sections[section].ops.push_back(&op);
    sectionOf[&op] = section;
  }
  return success();
}

/// Moves sections behind those that they need. Where two need each other all stays, and findBorder says so.
void sortSections(std::vector<Section> &sections, DenseMap<Operation *, size_t> &sectionOf) {
  std::vector<size_t> order;
  enum class Visit { None, Begun, Done };
  std::vector<Visit> visits(sections.size(), Visit::None);
  bool isCyclic = false;
  auto visit = [&](auto &self, size_t number) -> void {
    isCyclic |= visits[number] == Visit::Begun;
    if (visits[number] != Visit::None)
      return;
    visits[number] = Visit::Begun;
    for (Operation *op : sections[number].ops)
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && !isa<SiteOp>(producer) && sectionOf.lookup(producer) != number)
          self(self, sectionOf.lookup(producer));
    visits[number] = Visit::Done;
    order.push_back(number);
  };
  for (size_t number = 0; number < sections.size(); ++number)
    visit(visit, number);
  if (isCyclic)
    return;
  std::vector<Section> sorted;
  for (size_t number : order) {
    for (Operation *op : sections[number].ops)
      sectionOf[op] = sorted.size();
    sorted.push_back(std::move(sections[number]));
  }
  sections = std::move(sorted);
}

/// What each section makes of the micro-batch's results, in their order. Outputs of the model are values like those
/// that other sections need.
void findStores(func::FuncOp function, std::vector<Section> &sections, const DenseMap<Operation *, size_t> &sectionOf) {
  DenseSet<Value> seen;
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (Operation *op = returned.get().getDefiningOp(); op && seen.insert(returned.get()).second) {
      Section &section = sections[sectionOf.lookup(op)];
      bool isOutput = bool(Result(function, returned.getOperandNumber()).getOutput());
      (isOutput ? section.outs : section.stores).push_back(returned.get());
    }
}

/// Fills in what else crosses the section's border, in the order of first use or definition.
LogicalResult findBorder(func::FuncOp function, Section &section, size_t self,
                         const DenseMap<Operation *, size_t> &sectionOf) {
  llvm::SetVector<Value> values, sites, params;
  auto terminator = function.front().getTerminator();
  for (Operation *op : section.ops) {
    for (Value operand : op->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (argument && Argument(argument).getParameter())
        params.insert(operand);
      else if (argument)
        values.insert(operand);
      else if (operand.getDefiningOp<SiteOp>())
        sites.insert(operand);
      else if (size_t producer = sectionOf.lookup(operand.getDefiningOp()); producer != self) {
        if (producer > self)
          return op->emitError() << "'" << nameOf(section) << "' needs a value of a unit that runs after it";
        values.insert(operand);
      }
    }
    for (Value result : op->getResults()) {
      bool isOut = llvm::any_of(result.getUsers(),
                                [&](Operation *user) { return user != terminator && sectionOf.lookup(user) != self; });
      if (isOut && !llvm::is_contained(section.outs, result))
        section.outs.push_back(result);
    }
  }
  section.values = values.takeVector();
  section.sites = sites.takeVector();
  section.params = params.takeVector();
  return success();
}

func::FuncOp outline(OpBuilder &builder, const Section &section, StringRef name) {
  SmallVector<Value> arguments(section.values), results(section.outs);
  llvm::append_range(arguments, section.sites);
  llvm::append_range(arguments, section.params);
  llvm::append_range(results, section.stores);
  auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), ValueRange(results).getTypes());
  auto function = func::FuncOp::create(builder, section.ops.front()->getLoc(), name, type);
  function.setPrivate();
  OpBuilder body = OpBuilder::atBlockEnd(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(ValueRange(arguments), function.getArguments());
  for (Operation *op : section.ops) {
    Operation *copy = body.clone(*op, mapping);
    copy->removeAttr(kUnit);
    copy->removeAttr(kChunk);
  }
  SmallVector<Value> returned = llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(body, function.getLoc(), returned);
  return function;
}

/// Results of sections already outlined. A value that is both passed on and stored is two results of its call: the one
/// is an activation, the other goes where the micro-batch stores it.
struct Outlined {
  IRMapping passedOn, stored;
};

/// Whether two outlined functions do the same, op by op.
bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

struct OutlineUnitsPass : xlc::impl::OutlineUnitsPassBase<OutlineUnitsPass> {
  using OutlineUnitsPassBase::OutlineUnitsPassBase;

  void runOnOperation() override {
    SmallVector<Entry, 2> entries = Entry::all(getOperation());
    if (entries.empty())
      return signalPassFailure();
    llvm::StringMap<SmallVector<func::FuncOp>> byClass;
    for (Entry entry : entries)
      if (failed(outlineAll(entry, byClass)))
        return signalPassFailure();
  }

private:
  LogicalResult outlineAll(Entry entry, llvm::StringMap<SmallVector<func::FuncOp>> &byClass) {
    func::FuncOp function = entry.getFunction();
    std::vector<Section> sections;
    DenseMap<Operation *, size_t> sectionOf;
    separateReturned(function, splitBackward);
    if (failed(findSections(function, entry.isTraining() ? Half::F : Half::E, splitBackward, sections, sectionOf)))
      return failure();
    sortSections(sections, sectionOf);
    findStores(function, sections, sectionOf);
    for (auto [i, section] : llvm::enumerate(sections))
      if (failed(findBorder(function, section, i, sectionOf)))
        return failure();
    OpBuilder builder(function), calls(function.front().getTerminator());
    Outlined outlined;
    for (Section &section : sections)
      if (!section.ops.empty()) // a unit whose I nobody waits for has W alone
        replaceByCall(builder, calls, section, byClass, outlined);
    for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
      returned.set(Result(function, returned.getOperandNumber()).getOutput()
                       ? outlined.passedOn.lookupOrDefault(returned.get())
                       : outlined.stored.lookupOrDefault(returned.get()));
    for (Section &section : llvm::reverse(sections))
      for (Operation *op : llvm::reverse(section.ops))
        op->erase();
    return success();
  }

  /// The class's function that does what the section does; a new one where none does.
  static func::FuncOp shareOrOutline(OpBuilder &builder, const Section &section,
                                     llvm::StringMap<SmallVector<func::FuncOp>> &byClass) {
    std::string name = nameOf(section);
    SmallVector<func::FuncOp> &known = byClass[name];
    func::FuncOp function = outline(builder, section, known.empty() ? name : name + "_" + std::to_string(known.size()));
    for (func::FuncOp other : known)
      if (areEqual(function, other)) {
        function.erase();
        return other;
      }
    known.push_back(function);
    return function;
  }

  static void replaceByCall(OpBuilder &builder, OpBuilder &calls, Section &section,
                            llvm::StringMap<SmallVector<func::FuncOp>> &byClass, Outlined &outlined) {
    func::FuncOp function = shareOrOutline(builder, section, byClass);
    SmallVector<Value> arguments;
    for (Value value : section.values)
      arguments.push_back(outlined.passedOn.lookupOrDefault(value));
    llvm::append_range(arguments, section.sites);
    llvm::append_range(arguments, section.params);
    auto call = func::CallOp::create(calls, section.ops.front()->getLoc(), function, arguments);
    call->setAttr(kUnit, section.unit);
    bool isForward = section.half == Half::F || section.half == Half::E;
    Role role = isForward ? Role::F : section.half == Half::W ? Role::W : Role::I;
    call->setAttr(kRole, RoleAttr::get(call.getContext(), role));
    if (Attribute chunk = section.ops.front()->getAttr(kChunk))
      call->setAttr(kChunk, chunk);
    call->setAttr(kParams, calls.getI64IntegerAttr(section.params.size()));
    call->setAttr(kStores, calls.getI64IntegerAttr(section.stores.size()));
    outlined.passedOn.map(section.outs, call.getResults().take_front(section.outs.size()));
    outlined.stored.map(section.stores, call.getResults().take_back(section.stores.size()));
  }
};

} // namespace
