// The gate of Stage: @micro_batch consists of calls on unit functions, sites and a return; no unit runs a pass twice.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYSTAGEDPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

struct VerifyStagedPass : xlc::impl::VerifyStagedPassBase<VerifyStagedPass> {
  void runOnOperation() override {
    if (!Entry::find(getOperation(), Purpose::train)) {
      getOperation().emitError("gate of Stage: there is no training entry");
      return signalPassFailure();
    }
    for (Entry entry : Entry::all(getOperation()))
      if (failed(verifyCalls(entry.getFunction())))
        return signalPassFailure();
  }

private:
  static LogicalResult verifyCalls(func::FuncOp function) {
    DenseSet<std::pair<Attribute, Attribute>> seen;
    for (Operation &op : function.front().without_terminator()) {
      if (isa<SiteOp>(op))
        continue;
      bool isCall = isa<func::CallOp>(op) && getUnit(&op) && getRole(&op);
      if (!isCall)
        op.emitError("gate of Stage: not a call of a unit function");
      else if (!seen.insert({getUnit(&op), op.getAttr(kRole)}).second)
        op.emitError() << "gate of Stage: unit " << getUnit(&op) << " runs twice";
      else
        continue;
      return failure();
    }
    return success();
  }
};

} // namespace
