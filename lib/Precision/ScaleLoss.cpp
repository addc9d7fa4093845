// Where the loss scale stands in a step. The loss itself is not scaled: backward's first gradient is, so that all gradients
// are, and @scalars scales back what it makes of their squares.
#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/Update.h"
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
      Value first = seed.getResult(0), scaled = f.mul(first, f.create<LossScaleOp>(first.getType()));
      first.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    }
}

/// Its sum of squares is one of scaled gradients. Where one of these is not finite, neither is the sum, on all ranks
/// alike: x - x is then no number.
void unscale(func::FuncOp scalars) {
  auto f32 = RankedTensorType::get({}, Float32Type::get(scalars.getContext()));
  (void)scalars.insertArgument(scalars.getNumArguments(), f32, {}, scalars.getLoc());
  Value squares = scalars.getArgument(kSumSquaresArgument), scale = scalars.getArguments().back();
  auto uses = llvm::map_to_vector(squares.getUses(), [](OpOperand &use) { return &use; });
  Formula begin(&scalars.front().front());
  Value wide = begin.convert(scale, typeOf(squares).getElementType());
  Value trueSquares = begin.div(begin.div(squares, wide), wide);
  for (OpOperand *use : uses)
    use->set(trueSquares);
  Operation *end = scalars.front().getTerminator();
  Formula f(end);
  end->setOperand(kFactorResult, f.div(end->getOperand(kFactorResult), scale));
  Value isSkipped = IsNanOp::create(f.b, f.loc, typeOf(squares).clone(f.b.getI1Type()), f.sub(squares, squares));
  (void)scalars.insertResult(scalars.getNumResults(), f32, {});
  end->insertOperands(end->getNumOperands(), f.select(isSkipped, f.number(0, f32), 1));
}

/// An update takes a fifth number of the step: whether it is applied.
void makeSkippable(func::FuncOp update, int64_t scalars) {
  for (BlockArgument argument : update.getArguments())
    if (!Argument(argument).getParameter() && Argument(argument).getGroup())
      argument.setType(typeOf(argument).clone({scalars}));
  update.setType(update.getFunctionType().clone(update.front().getArgumentTypes(), update.getResultTypes()));
}

struct ScaleLossPass : xlc::impl::ScaleLossPassBase<ScaleLossPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!LossScale::of(module))
      return;
    func::FuncOp microBatch = findFunction(module, kMicroBatch), scalars = findFunction(module, kScalars),
                 update = findFunction(module, kUpdate);
    if (!microBatch || !scalars || !update) {
      module.emitError() << "needs functions @" << kMicroBatch << ", @" << kScalars << " and @" << kUpdate;
      return signalPassFailure();
    }
    scaleSeed(microBatch);
    unscale(scalars);
    makeSkippable(update, countStepScalars(module));
  }
};

} // namespace
