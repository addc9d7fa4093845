// Which part of backward may run beside the rest: products whose results are gradients of parameters, and nothing else.
//
//     I   dx = dy wT   ...   norm's gradient, which sums dy's columns on its way (a bias gradient)
//     W   dw = xT dy
//
// As Differentiate leaves them, roles put all into W that no other unit waits for: sums of columns too, which read what a
// kernel of I has in registers, and in the last unit of backward the way down through it. What ranks exchange has a
// stream and a place in an order. All of these are I here.
#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_SETPRODUCTSAPARTPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

bool isOfW(Operation *op) { return op && getRole(op) == Role::W; }

bool isProduct(Operation *op) { return isa<ContractOp>(op) || op->hasTrait<Convolution>(); }

/// Gives elements other values or places, each by itself.
bool isPlain(Operation *op) { return op->hasTrait<Elementwise>() || op->hasTrait<Movement>() || isa<ConcatOp>(op); }

struct SetProductsApartPass : xlc::impl::SetProductsApartPassBase<SetProductsApartPass> {
  void runOnOperation() override {
    auto function = findFunction(getOperation(), kMicroBatch);
    if (!function)
      return;
    DenseSet<Operation *> ends, apart; // what only gradients follow from; products of these, and what is theirs alone
    for (Operation &op : llvm::reverse(function.front()))
      if (isOfW(&op) && (isProduct(&op) || isPlain(&op)) && isFollowedBy(&op, ends))
        (isProduct(&op) ? apart : ends).insert(&op);
    for (Operation &op : function.front())
      if (ends.contains(&op) && readsAny(&op, apart))
        apart.insert(&op);
    for (Operation &op : llvm::reverse(function.front()))
      if (isOfW(&op) && isPlain(&op) && !op.use_empty() &&
          llvm::all_of(op.getUsers(), [&](Operation *user) { return apart.contains(user); }))
        apart.insert(&op);
    for (Operation &op : function.front())
      if (isOfW(&op) && !apart.contains(&op))
        op.setAttr(kRole, RoleAttr::get(&getContext(), Role::I));
  }

private:
  /// By these alone, and by the return.
  static bool isFollowedBy(Operation *op, const DenseSet<Operation *> &ends) {
    return llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return isa<func::ReturnOp>(user) || ends.contains(user); });
  }

  static bool readsAny(Operation *op, const DenseSet<Operation *> &apart) {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return apart.contains(operand.getDefiningOp()); });
  }
};

} // namespace
