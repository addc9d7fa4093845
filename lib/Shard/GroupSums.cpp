// ((x + a) + b) + c, where a, b and c are products and x is not, becomes ((a + b) + c) + x.
//
// Products of split operands are partial sums, which may be added before they are reduced, all in one all_reduce; the
// value that they are added to is not partial. Differentiate adds contributions in the order in which it finds them.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Factors/FactorRules.h"
#include "xlc/Shard/Shard.h"

namespace xlc {
#define GEN_PASS_DEF_GROUPSUMSPASS
#include "xlc/Shard/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// Whether a value is a product, or one in another shape.
bool isProduct(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<ReshapeOp, TransposeOp, ScaleOp, NegOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ContractOp, GatherOp>(op);
}

/// An add whose result only the add `user` of the same unit and role needs.
bool isInner(Operation *op, Operation *user) {
  return isa_and_nonnull<AddOp>(op) && op->hasOneUse() && getUnit(op) == getUnit(user) && getRole(op) == getRole(user);
}

void findTerms(AddOp add, SmallVectorImpl<Value> &terms) {
  for (Value operand : add.getOperands())
    if (Operation *op = operand.getDefiningOp(); isInner(op, add))
      findTerms(cast<AddOp>(op), terms);
    else
      terms.push_back(operand);
}

struct GroupSumsPass : xlc::impl::GroupSumsPassBase<GroupSumsPass> {
  void runOnOperation() override {
    for (Entry entry : Entry::all(getOperation()))
      groupSums(entry.getFunction());
  }

private:
  static void groupSums(func::FuncOp function) {
    SmallVector<AddOp> adds(function.getOps<AddOp>());
    for (AddOp add : adds) {
      bool isRoot = !add->hasOneUse() || !isa<AddOp>(*add->user_begin()) || !isInner(add, *add->user_begin());
      SmallVector<Value> terms;
      if (isRoot)
        findTerms(add, terms);
      auto products = llvm::count_if(terms, isProduct);
      if (products < 2 || products == int64_t(terms.size()))
        continue;
      SmallVector<Value> ordered(llvm::make_filter_range(terms, isProduct));
      llvm::append_range(ordered, llvm::make_filter_range(terms, [](Value term) { return !isProduct(term); }));
      OpBuilder builder(add);
      Value sum = ordered[0];
      for (Value term : ArrayRef(ordered).drop_front()) {
        auto next = AddOp::create(builder, add.getLoc(), sum, term);
        next->setAttrs(add->getAttrs());
        sum = next;
      }
      add.getResult().replaceAllUsesWith(sum);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isa<AddOp>(op) && isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
