// Which part of backward may run beside the rest: products that nobody waits for but the sum of gradients.
//
//     I   dx = dy wT   ...   norm's gradient, which sums dy's columns on its way (a bias gradient)
//     W   dw = xT dy
//
// As Differentiate leaves them, roles put all into W that no other unit waits for. Sums of rows read what a kernel of I
// has in registers, so they belong there where there is a choice; an exchange between ranks too, which has a stream and a
// place in an order.
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

struct SetProductsApartPass : xlc::impl::SetProductsApartPassBase<SetProductsApartPass> {
  void runOnOperation() override {
    auto function = findFunction(getOperation(), kMicroBatch);
    if (!function)
      return;
    DenseSet<Operation *> apart; // products, and what follows from them
    for (Operation &op : function.front())
      if (isOfW(&op) && (isProduct(&op) || readsAny(&op, apart)))
        apart.insert(&op);
    for (Operation &op : llvm::reverse(function.front()))
      if (isOfW(&op) && servesThemAlone(&op, apart))
        apart.insert(&op);
    for (Operation &op : function.front())
      if (isOfW(&op) && !apart.contains(&op))
        op.setAttr(kRole, RoleAttr::get(&getContext(), Role::I));
  }

private:
  static bool readsAny(Operation *op, const DenseSet<Operation *> &apart) {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return apart.contains(operand.getDefiningOp()); });
  }

  static bool servesThemAlone(Operation *op, const DenseSet<Operation *> &apart) {
    return !isa<dist::DistDialect>(op->getDialect()) && !op->use_empty() &&
           llvm::all_of(op->getUsers(), [&](Operation *user) { return apart.contains(user); });
  }
};

} // namespace
