// Narrows the optimizer's states to 16-bit types. InsertCasts.cpp reads the type of gradients from @update.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Precision/Precision.h"

namespace xlc {
#define GEN_PASS_DEF_NARROWUPDATEPASS
#include "xlc/Precision/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

struct NarrowUpdatePass : xlc::impl::NarrowUpdatePassBase<NarrowUpdatePass> {
  using NarrowUpdatePassBase::NarrowUpdatePassBase;

  void runOnOperation() override {
    func::FuncOp function = Entry::find(getOperation(), Purpose::train).getFunction(),
                 update = findUpdate(getOperation());
    if (!function || !update || !(masterless || gradients || states))
      return;
    Type narrow = findNarrowType(update, compute);
    if (!narrow)
      return signalPassFailure();
    llvm::DenseSet<Attribute> kept;
    for (BlockArgument argument : function.getArguments())
      if (Argument what(argument); what.isKept())
        kept.insert(what.getParameter());
    for (auto step : llvm::make_early_inc_range(update.getOps<OptimizerStepOp>()))
      if (!kept.contains(Argument(cast<BlockArgument>(step.getParam())).getParameter()))
        rewrite(step, narrow);
    Operation *end = update.front().getTerminator();
    update.setType(FunctionType::get(&getContext(), update.front().getArgumentTypes(), end->getOperandTypes()));
  }

private:
  /// Random bits for each element of the parameter: its subsequence is that of the parameter's name.
  static Value drawBits(OpBuilder &builder, OptimizerStepOp step) {
    Location loc = step.getLoc();
    RankedTensorType type = typeOf(step.getParam()).clone(builder.getI64Type());
    auto name = Argument(cast<BlockArgument>(step.getParam())).getParameter().getValue();
    auto broadcast = [&](Value number) { return BroadcastOp::create(builder, loc, type, number); };
    Value flat = IotaOp::create(builder, loc, type.clone({type.getNumElements()}), 0);
    Value index = ReshapeOp::create(builder, loc, type, flat);
    Value key = broadcast(StepNumberOp::create(builder, loc, StepNumber::RandomKey));
    Attribute hash = builder.getI64IntegerAttr(int64_t(runtime::hashName(name)));
    Value subsequence = ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, hash));
    return RandomBitsOp::create(builder, loc, index, key, subsequence);
  }

  /// Its operands are arguments of @update.
  void rewrite(OptimizerStepOp step, Type narrow) {
    auto change = [&](Value argument) { argument.setType(typeOf(argument).clone(narrow)); };
    if (masterless)
      change(step.getParam());
    if (gradients)
      change(step.getGrad());
    ValueRange narrowed = step.getStates().drop_back(OptimizerGroup(step->getAttrDictionary()).getAverage() ? 1 : 0);
    if (states)
      llvm::for_each(narrowed, change);
    Operation *before = step->getPrevNode();
    OpBuilder builder(step);
    Value bits;
    if (stochastic && (masterless || (states && !narrowed.empty())))
      bits = drawBits(builder, step);
    SmallVector<Value> results = OptimizerGroup(step->getAttrDictionary())
                                     .createRoundedStep(builder, step.getLoc(), step.getParam(), step.getGrad(),
                                                        step.getScalars(), step.getStates(), bits);
    Block &block = *step->getBlock();
    for (Operation &made :
         llvm::make_range(before ? std::next(before->getIterator()) : block.begin(), step->getIterator()))
      made.setAttr(kRole, step->getAttr(kRole));
    step->replaceAllUsesWith(results);
    step.erase();
  }
};

} // namespace
