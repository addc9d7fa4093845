// A product whose partial sums ranks add up is rounded before the bias comes, since sixteen bits are what they send each other;
// so this waits until Shard has said which products those are.
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Precision/Precision.h"

namespace xlc {
#define GEN_PASS_DEF_ROUNDBIASEDONCEPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// A vector of sixteen bits that is repeated along the last dimension and widened, in either order.
bool isNarrowBias(Value value) {
  Value bias = findRepeatedVector(value);
  return bias && isNarrow(typeOf(bias).getElementType());
}

/// The product that `value`, read by its one reader alone, widens; null.
ContractOp findProduct(Value value) {
  auto widened = value.getDefiningOp<CastOp>();
  auto product = widened && value.hasOneUse() ? widened.getX().getDefiningOp<ContractOp>() : ContractOp();
  return product && product->hasOneUse() && isNarrow(typeOf(product.getY()).getElementType()) ? product : ContractOp();
}

/// Whether the sum is rounded as the product was, and nothing else becomes of it.
bool isRoundedAlike(AddOp sum, ContractOp product) {
  auto rounded = sum->hasOneUse() ? dyn_cast<CastOp>(*sum->user_begin()) : CastOp();
  return rounded && typeOf(rounded.getY()).getElementType() == typeOf(product.getY()).getElementType() &&
         getUnit(sum) == getUnit(product) && getRole(sum) == getRole(product);
}

struct RoundBiasedOncePass : xlc::impl::RoundBiasedOncePassBase<RoundBiasedOncePass> {
  void runOnOperation() override {
    if (auto function = findFunction(getOperation(), kMicroBatch))
      for (auto sum : function.getOps<AddOp>())
        for (unsigned i : {0u, 1u})
          if (ContractOp product = findProduct(sum->getOperand(i));
              product && isNarrowBias(sum->getOperand(1 - i)) && isRoundedAlike(sum, product))
            addUnrounded(sum->getOpOperand(i), product);
  }

private:
  static void addUnrounded(OpOperand &summand, ContractOp product) {
    Operation *widened = summand.get().getDefiningOp();
    product.getY().setType(typeOf(product.getY()).clone(typeOf(summand.get()).getElementType()));
    summand.set(product.getY());
    widened->erase();
  }
};

} // namespace
