// The gate of Stage: @micro_batch is calls on unit functions and a return; no unit runs a pass twice.
#include "xlc/Dialect/Graph/Signature.h"
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
    auto function = findFunction(getOperation(), kMicroBatch);
    if (!function) {
      getOperation().emitError("gate of Stage: no function @micro_batch");
      return signalPassFailure();
    }
    DenseSet<std::pair<Attribute, Attribute>> seen;
    for (Operation &op : function.front().without_terminator()) {
      bool isCall = isa<func::CallOp>(op) && getUnit(&op) && getRole(&op);
      if (!isCall)
        op.emitError("gate of Stage: not a call of a unit function");
      else if (!seen.insert({getUnit(&op), op.getAttr(kRole)}).second)
        op.emitError() << "gate of Stage: unit " << getUnit(&op) << " runs twice";
      else
        continue;
      return signalPassFailure();
    }
  }
};

} // namespace
