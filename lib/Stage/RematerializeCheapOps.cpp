// What forward may forget: backward's uses of constants and views, and of what follows element by element from the
// model's inputs (masks, tables of positions), get copies of their own. So does forward of another pipeline chunk: what
// each chunk can make for itself is not sent.
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_REMATERIALIZECHEAPOPSPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// SiLU in a product, as SwiGLU's backward has it: its operand is kept for its own gradient, and the kernel of the
/// product computes it on the way. A matrix product would need it in memory.
bool isFusedGate(Operation *op) {
  return isa<SiluOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) {
           return getRole(user) == Role::F || isa<MulOp, SiluBackwardOp>(user);
         });
}

/// Ops that compute an element from elements of their operands, one each.
bool isElementwise(Operation *op) { return op->hasTrait<Elementwise>() || isa<ConcatOp>(op); }

/// Copies cheap forward ops for the backward of one unit, or for another chunk; a copy is shared by all ops of those.
class Copies {
public:
  explicit Copies(func::FuncOp function) : builder(function) {
    for (BlockArgument argument : function.getArguments())
      if (Argument(argument).getInput())
        given.insert(argument);
    for (Operation &op : function.front())
      if (getRole(&op) == Role::F && (computesNothing(&op) || isElementwise(&op)) &&
          llvm::all_of(op.getOperands(), [&](Value operand) { return given.contains(operand); }))
        given.insert_range(op.getResults());
  }

  /// The value that the user is to read: a copy of its unit (in forward: of its chunk), or the value itself.
  Value of(Value value, Operation *user) {
    bool isForward = getRole(user) == Role::F;
    if (!(isForward ? isMadeAgainInChunk(value, user) : isMadeAgainInBackward(value)))
      return value;
    Operation *op = value.getDefiningOp();
    std::pair<Value, Attribute> key(value, isForward ? user->getAttr(kChunk) : getUnit(user));
    auto [it, isNew] = copies.try_emplace(key, Value());
    if (!isNew) {
      hasten(it->second.getDefiningOp(), user);
      return it->second;
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand, user));
    builder.setInsertionPoint(user);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->setAttr(kUnit, getUnit(user));
    copy->setAttr(kRole, user->getAttr(kRole));
    if (Attribute chunk = user->getAttr(kChunk))
      copy->setAttr(kChunk, chunk);
    return copies[key] = copy->getResult(cast<OpResult>(value).getResultNumber());
  }

private:
  /// Backward's I runs before its W: a copy that W made first belongs to I as soon as I reads it, with all it is made of.
  void hasten(Operation *copy, Operation *user) {
    if (getRole(user) != Role::I || getRole(copy) != Role::W)
      return;
    copy->setAttr(kRole, user->getAttr(kRole));
    for (Value operand : copy->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        hasten(producer, user);
  }

  bool isMadeAgainInBackward(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && getRole(op) == Role::F && (computesNothing(op) || isFusedGate(op) || given.contains(value));
  }
  /// In another chunk than where it stands; a view only where what it shows is not larger.
  bool isMadeAgainInChunk(Value value, Operation *user) const {
    Operation *op = value.getDefiningOp();
    return op && getRole(op) == Role::F && getChunk(op) != getChunk(user) &&
           (given.contains(value) || (op->hasTrait<Movement>() && !isa<SliceOp>(op)));
  }

  OpBuilder builder;
  DenseSet<Value> given; ///< what depends on no parameter and takes no more than a loop
  DenseMap<std::pair<Value, Attribute>, Value> copies;
};

struct RematerializeCheapOpsPass : xlc::impl::RematerializeCheapOpsPassBase<RematerializeCheapOpsPass> {
  void runOnOperation() override {
    auto function = findFunction(getOperation(), kMicroBatch);
    if (!function)
      return;
    Copies copies(function);
    for (Operation &op : llvm::make_early_inc_range(function.front())) {
      if (!getRole(&op))
        continue;
      for (OpOperand &operand : op.getOpOperands())
        operand.set(copies.of(operand.get(), &op));
    }
  }
};

} // namespace
