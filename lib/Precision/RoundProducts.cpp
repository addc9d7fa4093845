// Moves the rounding of a product after its epilogue, so that it is rounded once. A product whose partial sums are
// added over ranks is rounded before, since ranks exchange 16-bit values; so the pass runs after Shard, which
// determines these products. The target determines which epilogues other than a bias a library can apply before it
// rounds.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Precision/Precision.h"

namespace xlc {
#define GEN_PASS_DEF_ROUNDBIASEDONCEPASS
#define GEN_PASS_DEF_ROUNDEPILOGUESONCEPASS
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

/// Whether `last` is rounded to the type of the product's operands, and nothing else becomes of it.
bool isRoundedAlike(Operation *last, ContractOp product) {
  auto rounded = last->hasOneUse() ? dyn_cast<CastOp>(*last->user_begin()) : CastOp();
  return rounded && typeOf(rounded.getY()).getElementType() == typeOf(product.getA()).getElementType() &&
         getUnit(last) == getUnit(product) && getRole(last) == getRole(product);
}

/// `summand` widens a product: reads it as it is before it is rounded.
void readUnrounded(OpOperand &summand, ContractOp product) {
  Operation *widened = summand.get().getDefiningOp();
  product.getY().setType(typeOf(product.getY()).clone(typeOf(summand.get()).getElementType()));
  summand.set(product.getY());
  widened->erase();
}

struct RoundBiasedOncePass : xlc::impl::RoundBiasedOncePassBase<RoundBiasedOncePass> {
  void runOnOperation() override {
    for (Entry entry : Entry::all(getOperation()))
      for (auto sum : entry.getFunction().getOps<AddOp>())
        for (unsigned i : {0u, 1u})
          if (ContractOp product = findProduct(sum->getOperand(i));
              product && isNarrowBias(sum->getOperand(1 - i)) && isRoundedAlike(sum, product))
            readUnrounded(sum->getOpOperand(i), product);
  }
};

/// What `value` widens; null where it does not, or where that is a vector which is repeated.
Value findWidened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isNarrow(typeOf(cast.getX()).getElementType()) && !findRepeatedVector(value) ? cast.getX() : Value();
}

struct RoundEpiloguesOncePass : xlc::impl::RoundEpiloguesOncePassBase<RoundEpiloguesOncePass> {
  explicit RoundEpiloguesOncePass(const Target &target) : target(target) {}

  void runOnOperation() override {
    for (Entry entry : Entry::all(getOperation()))
      roundOnce(entry.getFunction());
  }

private:
  void roundOnce(func::FuncOp function) {
    for (auto sum : function.getOps<AddOp>())
      for (unsigned i : {0u, 1u})
        if (Value residual = findWidened(sum->getOperand(1 - i)))
          addResidual(sum, sum->getOpOperand(i), residual);
    for (auto gelu : function.getOps<GeluOp>())
      passSum(gelu);
    for (auto backward : function.getOps<GeluBackwardOp>())
      if (ContractOp product = findProduct(backward.getDy());
          product && backward.getKind() == GeluKind::tanh && findWidened(backward.getX()) &&
          isRoundedAlike(backward, product) && fits(product, {.activation = runtime::Activation::GeluBackward}))
        readUnrounded(backward.getDyMutable(), product);
  }

  /// A product, with a bias or without, and the residual, which is there before it, and is not its own operand: a call has either once.
  void addResidual(AddOp sum, OpOperand &summand, Value residual) {
    OpOperand *ofProduct = &summand;
    bool hasBias = false;
    if (auto biased = summand.get().getDefiningOp<AddOp>(); biased && biased->hasOneUse())
      for (unsigned i : {0u, 1u})
        if (isNarrowBias(biased->getOperand(1 - i)))
          ofProduct = &biased->getOpOperand(i), hasBias = true;
    ContractOp product = findProduct(ofProduct->get());
    Operation *maker = residual.getDefiningOp();
    auto isOwn = [&](Value operand) { return operand == residual; };
    bool isThere = product && !llvm::any_of(product->getOperands(), isOwn) &&
                   (!maker || (maker->isBeforeInBlock(product) && !isa<BroadcastOp>(maker)));
    if (isThere && isRoundedAlike(sum, product) && fits(product, {.bias = hasBias, .residual = true}))
      readUnrounded(*ofProduct, product);
  }

  /// GELU of a product with a bias reads the sum, which is rounded for backward alone.
  void passSum(GeluOp gelu) {
    Value rounded = gelu.getKind() == GeluKind::tanh ? findWidened(gelu.getX()) : Value();
    auto h = rounded ? rounded.getDefiningOp<CastOp>() : CastOp();
    auto sum = h && h.getX().hasOneUse() ? h.getX().getDefiningOp<AddOp>() : AddOp();
    auto isAnother = [&](Operation *user) { return user != gelu.getX().getDefiningOp(); };
    if (!sum || (gelu.getX().hasOneUse() && llvm::none_of(rounded.getUsers(), isAnother)))
      return; // nobody else wants h
    for (unsigned i : {0u, 1u}) {
      auto product = sum->getOperand(i).getDefiningOp<ContractOp>();
      if (!product || !product->hasOneUse() || !isNarrowBias(sum->getOperand(1 - i)) ||
          !isRoundedAlike(gelu, product) || !fits(product, {.bias = true, .activation = runtime::Activation::Gelu}))
        continue;
      Operation *widened = gelu.getX().getDefiningOp();
      gelu.getXMutable().set(sum.getY());
      if (widened->use_empty())
        widened->erase();
      return;
    }
  }

  /// Whether the library of the target does so, all matrices without gaps.
  bool fits(ContractOp product, runtime::Epilogue epilogue) const {
    auto whole = [](Value value, Type element) { return MemRefType::get(typeOf(value).getShape(), element); };
    Type narrow = typeOf(product.getA()).getElementType();
    SmallVector<MemRefType> memory{whole(product.getA(), narrow), whole(product.getB(), narrow)};
    memory.append(2, whole(product.getY(), narrow));
    return target.fits({product, memory, epilogue});
  }

  const Target &target;
};

} // namespace

std::unique_ptr<Pass> xlc::createRoundEpiloguesOncePass(const Target &target) {
  return std::make_unique<RoundEpiloguesOncePass>(target);
}

void xlc::registerPrecisionPasses(const Target &target) {
  registerPass([] { return createNarrowUpdatePass(); });
  registerPass([] { return createInsertCastsPass(); });
  registerPass([] { return createRoundBiasedOncePass(); });
  registerPass([] { return createScaleLossPass(); });
  registerPass([] { return createVerifyPrecisionPass(); });
  registerPass([&target] { return createNarrowConvolutionsPass(target); });
  registerPass([&target] { return createRoundEpiloguesOncePass(target); });
}
