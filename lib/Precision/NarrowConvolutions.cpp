// Keeps convolutions in 16-bit types. Their operands were widened for a library that requires float32; if the target's
// library accepts 16-bit types, the casts are removed. Runs after Shard, as RoundProducts.cpp does.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Precision/Precision.h"

namespace xlc {
#define GEN_PASS_DEF_NARROWCONVOLUTIONSPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// What `value` widens; null where it does not.
Value findWidened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && isNarrow(typeOf(cast.getX()).getElementType()) ? cast.getX() : Value();
}

struct NarrowConvolutionsPass : xlc::impl::NarrowConvolutionsPassBase<NarrowConvolutionsPass> {
  explicit NarrowConvolutionsPass(const Target &target) : target(target) {}

  void runOnOperation() override {
    SmallVector<Operation *> convolutions; // the casts around them go
    for (Entry entry : Entry::all(getOperation()))
      for (Operation &op : entry.getFunction().front())
        if (op.hasTrait<Convolution>())
          convolutions.push_back(&op);
    llvm::for_each(convolutions, [&](Operation *op) { narrow(op); });
  }

private:
  void narrow(Operation *op) const {
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), findWidened);
    if (llvm::is_contained(operands, Value()))
      return;
    Type narrow = typeOf(operands[0]).getElementType();
    OpResult result = op->getResult(0);
    auto rounded = result.hasOneUse() ? dyn_cast<CastOp>(*result.user_begin()) : CastOp();
    bool isRounded = rounded && typeOf(rounded.getY()).getElementType() == narrow;
    bool isGradient = isa<ConvolutionWeightBackwardOp>(op);
    if (typeOf(operands[1]).getElementType() != narrow || (!isRounded && !isGradient) || !fits(op, narrow))
      return;
    for (auto [operand, given] : llvm::zip(op->getOpOperands(), operands)) {
      Operation *widened = operand.get().getDefiningOp();
      operand.set(given);
      if (widened->use_empty())
        widened->erase();
    }
    isRounded ? readNarrow(rounded, result) : widen(result, narrow);
  }

  static void readNarrow(CastOp rounded, OpResult result) {
    result.setType(rounded.getType());
    rounded.getY().replaceAllUsesWith(result);
    rounded->erase();
  }

  /// All that read the result read it widened again.
  static void widen(OpResult result, Type narrow) {
    RankedTensorType wide = typeOf(result);
    result.setType(wide.clone(narrow));
    Operation *op = result.getOwner();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto widened = CastOp::create(builder, op->getLoc(), wide, result);
    for (StringRef name : {StringRef(kUnit), StringRef(kRole)})
      if (Attribute attribute = op->getAttr(name))
        widened->setAttr(name, attribute);
    result.replaceAllUsesExcept(widened.getY(), widened);
  }

  bool fits(Operation *op, Type narrow) const {
    SmallVector<MemRefType> memory;
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        memory.push_back(MemRefType::get(typeOf(value).getShape(), narrow));
    return target.fits({op, memory, {}});
  }

  const Target &target;
};

} // namespace

std::unique_ptr<Pass> xlc::createNarrowConvolutionsPass(const Target &target) {
  return std::make_unique<NarrowConvolutionsPass>(target);
}
