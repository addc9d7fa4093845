// Reduces the residuals of forward: backward's uses of constants and views, and of element-wise functions of the
// model's inputs, get copies of their own. AssignStages follows, and counts the residuals that remain.
#include "Copies.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_REMATERIALIZECHEAPOPSPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// SiLU in a product, as SwiGLU's backward has it: its operand is kept for its own gradient, and the kernel of the
/// product computes it on the way. A matrix product would need it in memory.
bool isFusedGate(Operation *op) {
  return isa<SiluOp>(op) && llvm::all_of(op->getUsers(), [](Operation *user) {
           return getRole(user) == Role::F || isa<MulOp, SiluBackwardOp>(user);
         });
}

struct RematerializeCheapOpsPass : xlc::impl::RematerializeCheapOpsPassBase<RematerializeCheapOpsPass> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(kStages)) {
      getOperation().emitError() << "stages are already assigned; this pass must run before, because it changes the "
                                    "residuals that are kept";
      return signalPassFailure();
    }
    auto isCopied = [](Operation *op, Operation *reader, bool isGiven) {
      return getRole(reader) != Role::F && (isGiven || computesNothing(op) || isFusedGate(op));
    };
    auto unitOf = [](Operation *reader) -> Attribute { return getUnit(reader); };
    copyForReaders(getOperation(), {isCopied, unitOf});
  }
};

} // namespace
