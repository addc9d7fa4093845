// Inserts the loss scale into a step. The loss itself is not scaled. Backward's first gradient is, and so are all
// gradients; @scalars removes the scale from its results on their squares.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Precision/Precision.h"

namespace xlc {
#define GEN_PASS_DEF_SCALELOSSPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// Multiplies what backward begins with.
void scaleSeed(func::FuncOp microBatch) {
  for (Operation &seed : llvm::make_early_inc_range(microBatch.front()))
    if (seed.hasAttr(kSeed)) {
      PartOf f(&seed, OpBuilder(&seed.getParentRegion()->front(), std::next(seed.getIterator())), Spelling::Plain);
      Value first = seed.getResult(0), scaled = f.mul(first, f.create<StepNumberOp>(runtime::StepNumber::LossScale));
      first.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    }
}

/// Its sum of squares is one of scaled gradients. A step that is skipped skips none of those that follow.
void unscale(func::FuncOp scalars) {
  Value squares = scalars.getArgument(kSumSquaresArgument), scale = scalars.getArgument(kScaleArgument);
  auto uses = llvm::map_to_vector(squares.getUses(), [](OpOperand &use) { return &use; });
  Formula begin(&scalars.front().front());
  scale.replaceAllUsesWith(begin.number(1, scale));
  Value wide = begin.convert(scale, typeOf(squares).getElementType());
  Value trueSquares = begin.div(begin.div(squares, wide), wide);
  for (OpOperand *use : uses)
    use->set(trueSquares);
  Operation *end = scalars.front().getTerminator();
  Formula f(end);
  end->setOperand(kFactorResult, f.div(end->getOperand(kFactorResult), scale));
}

struct ScaleLossPass : xlc::impl::ScaleLossPassBase<ScaleLossPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!LossScale::of(module))
      return;
    func::FuncOp microBatch = Entry::find(module, Purpose::train).getFunction(), scalars = findScalars(module);
    if (!microBatch || !scalars) {
      module.emitError() << "the module must have a training entry and a function @" << kScalars;
      return signalPassFailure();
    }
    scaleSeed(microBatch);
    unscale(scalars);
  }
};

} // namespace
