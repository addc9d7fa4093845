// The gradient of the loss with respect to the result of the last product needs nothing of backward: it runs in
// forward, in the kernel that reads the rows for the loss, and the gradient is kept for backward in place of the
// logits.
//
//     F   %logits   %sum, %lse = cross_entropy %logits              F   %logits   %sum, %lse   %d = cross_entropy_backward
//     I   %d = cross_entropy_backward %logits, %lse, %seed    =>    I   contract %d ...
//     I   contract %d ...
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Stage/Stage.h"
#include "llvm/ADT/SetVector.h"

namespace xlc {
#define GEN_PASS_DEF_HOISTLOSSGRADIENTPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// What one unit's backward computes of forward's values, arguments and constants, element by element.
class LossGradient {
public:
  LossGradient(func::FuncOp function, ModelUnitAttr unit) : function(function) {
    for (Operation &op : function.front().without_terminator())
      if (getUnit(&op) == unit && getRole(&op) == Role::I && isElementwise(&op) && dependsOnForwardOnly(&op))
        ops.push_back(&op), members.insert(&op);
    keepGradient();
  }

  bool isEmpty() const { return ops.empty(); }

  /// Whether forward then keeps no more for backward than before: the gradient takes the place of what it is made of.
  bool pays() {
    int64_t before = 0, after = 0;
    for (Operation &op : function.front().without_terminator())
      if (bool isMember = members.contains(&op); !computesNothing(&op) && (isMember || getRole(&op) == Role::F))
        for (Value result : op.getResults()) {
          auto isRead = [&](bool byMembers) {
            return llvm::any_of(result.getUsers(), [&](Operation *user) {
              return getRole(user) && getRole(user) != Role::F && (byMembers || !members.contains(user));
            });
          };
          before += !isMember && isRead(true) ? getByteSize(typeOf(result)) : 0;
          after += isRead(false) ? getByteSize(typeOf(result)) : 0;
        }
    return after <= before;
  }

  /// Constants and scalars go before the unit's first op, so that the kernel of the loss need not wait for them.
  void hoist() {
    Operation *first = nullptr;
    for (Operation &op : function.front())
      if (!first && getUnit(&op) == getUnit(ops.front()))
        first = &op;
    for (Operation *op : ops) {
      op->setAttr(kRole, RoleAttr::get(op->getContext(), Role::F));
      Operation *last = nullptr;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && (!last || last->isBeforeInBlock(producer)))
          last = producer;
      last && !last->isBeforeInBlock(first) ? op->moveAfter(last) : op->moveBefore(first);
    }
  }

private:
  static bool isElementwise(Operation *op) { return computesNothing(op) || op->hasTrait<ReadsOwnElement>(); }

  bool dependsOnForwardOnly(Operation *op) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return !producer || getRole(producer) == Role::F || members.contains(producer);
    });
  }

  /// What follows from the first gradient and from forward, and what that is made of.
  void keepGradient() {
    DenseSet<Operation *> seeded, reading, kept;
    for (Operation *op : ops) {
      auto follows = [&](const DenseSet<Operation *> &from) {
        return llvm::any_of(op->getOperands(), [&](Value operand) { return from.contains(operand.getDefiningOp()); });
      };
      bool readsForward = llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && !members.contains(producer) && !computesNothing(producer);
      });
      if (op->hasAttr(kSeed) || follows(seeded))
        seeded.insert(op);
      if (readsForward || follows(reading))
        reading.insert(op);
    }
    for (Operation *op : llvm::reverse(ops))
      if ((seeded.contains(op) && reading.contains(op)) ||
          llvm::any_of(op->getUsers(), [&](Operation *user) { return kept.contains(user); }))
        kept.insert(op);
    llvm::erase_if(ops, [&](Operation *op) { return !kept.contains(op); });
    members = std::move(kept);
  }

  func::FuncOp function;
  SmallVector<Operation *> ops;
  DenseSet<Operation *> members;
};

struct HoistLossGradientPass : xlc::impl::HoistLossGradientPassBase<HoistLossGradientPass> {
  void runOnOperation() override {
    func::FuncOp function = Entry::find(getOperation(), Purpose::train).getFunction();
    if (!function)
      return;
    llvm::SetVector<Attribute> units;
    for (Operation &op : function.front())
      if (op.hasAttr(kSeed) && getUnit(&op))
        units.insert(getUnit(&op));
    bool hasHoisted = false;
    for (Attribute unit : units)
      if (LossGradient gradient(function, cast<ModelUnitAttr>(unit)); !gradient.isEmpty() && gradient.pays()) {
        gradient.hoist();
        hasHoisted = true;
      }
    if (hasHoisted && failed(mergeEqual(function)))
      signalPassFailure();
  }

  /// Forward may compute already what now belongs to it.
  LogicalResult mergeEqual(func::FuncOp function) {
    OpPassManager passes(func::FuncOp::getOperationName());
    passes.addPass(createCSEPass());
    return runPipeline(passes, function);
  }
};

} // namespace
