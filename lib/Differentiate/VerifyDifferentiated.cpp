// The gate of Differentiate: every trainable parameter has a gradient, every op has a role.
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYDIFFERENTIATEDPASS
#include "xlc/Differentiate/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

struct VerifyDifferentiatedPass : xlc::impl::VerifyDifferentiatedPassBase<VerifyDifferentiatedPass> {
  void runOnOperation() override {
    auto function = findFunction(getOperation(), kMicroBatch);
    if (!function) {
      blame(Fault::Compiler, getOperation().emitError()) << "gate of Differentiate: no function @micro_batch";
      return signalPassFailure();
    }
    bool isFine = true;
    llvm::StringSet<> differentiated;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto name = Result(function, i).getGradient())
        differentiated.insert(name.getValue());
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto name = Argument(function, i).getParameter();
      if (!name || Argument(function, i).isFrozen() || differentiated.contains(name.getValue()))
        continue;
      isFine = false;
      function.emitError() << "the loss does not depend on parameter '" << name.getValue()
                           << "'; exclude it with trainable: [\"*\", \"!" << name.getValue() << "\"]";
    }
    for (Operation &op : function.front())
      if (isa_and_nonnull<GraphDialect>(op.getDialect()) && !getRole(&op)) {
        isFine = false;
        blame(Fault::Compiler, op.emitError()) << "gate of Differentiate: op has no role";
      }
    for (StopGradientOp stop : function.front().getOps<StopGradientOp>()) {
      isFine = false;
      blame(Fault::Compiler, stop.emitError())
          << "gate of Differentiate: gradients are taken, and no op may stop them any more";
    }
    if (!isFine)
      signalPassFailure();
  }
};

} // namespace
