// The gate of Differentiate: every trainable parameter has a gradient, every op has a role.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Differentiate/Gradients.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYDIFFERENTIATEDPASS
#include "xlc/Differentiate/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// The first op without a gradient that stands between `parameter` and the loss; null where none does.
Operation *findBarrier(BlockArgument parameter) {
  llvm::SetVector<Operation *> reached;
  reached.insert_range(parameter.getUsers());
  for (size_t i = 0; i < reached.size(); ++i) {
    const GradientRow *row = findGradient(reached[i]->getName().getStringRef());
    if (row && !row->rule)
      return reached[i];
    reached.insert_range(reached[i]->getUsers());
  }
  return nullptr;
}

void complainOfUnreached(func::FuncOp function, BlockArgument parameter, StringRef name) {
  InFlightDiagnostic message = function.emitError();
  if (Operation *barrier = findBarrier(parameter))
    message << "the loss depends on parameter '" << name << "' only through " << barrier->getName().stripDialect()
            << " at '" << getSourceName(barrier)
            << "', which has no gradient; if the model defines a gradient there, as in w + (sign(w) - w).detach(), the "
               "exporter removed this gradient: export with optimize=False or with xlc_export; otherwise exclude";
  else
    message << "the loss does not depend on parameter '" << name << "'; exclude";
  message << " the parameter with trainable: [\"*\", \"!" << name << "\"]";
}

struct VerifyDifferentiatedPass : xlc::impl::VerifyDifferentiatedPassBase<VerifyDifferentiatedPass> {
  void runOnOperation() override {
    if (!Entry::find(getOperation(), Purpose::train)) {
      blame(Fault::Compiler, getOperation().emitError()) << "gate of Differentiate: there is no training entry";
      return signalPassFailure();
    }
    bool isFine = true;
    for (Entry entry : Entry::all(getOperation())) {
      isFine &= verifyGradients(entry);
      isFine &= verifyOps(entry.getFunction());
    }
    if (!isFine)
      signalPassFailure();
  }

private:
  static bool verifyGradients(Entry entry) {
    bool isFine = true;
    func::FuncOp function = entry.getFunction();
    if (!entry.isTraining() && !entry.getGradients().empty()) {
      blame(Fault::Compiler, function.emitError()) << "gate of Differentiate: an evaluation entry has gradients";
      return false;
    }
    llvm::StringSet<> differentiated;
    for (OpOperand *returned : entry.getGradients())
      differentiated.insert(entry.getGradientName(*returned).getValue());
    for (unsigned i = 0; i < function.getNumArguments() && entry.isTraining(); ++i) {
      auto name = Argument(function, i).getParameter();
      if (!name || Argument(function, i).isFrozen() || differentiated.contains(name.getValue()))
        continue;
      isFine = false;
      complainOfUnreached(function, function.getArgument(i), name.getValue());
    }
    return isFine;
  }

  static bool verifyOps(func::FuncOp function) {
    bool isFine = true;
    for (Operation &op : function.front())
      if (isa_and_nonnull<GraphDialect>(op.getDialect()) && !getRole(&op)) {
        isFine = false;
        blame(Fault::Compiler, op.emitError()) << "gate of Differentiate: op has no role";
      }
    for (StopGradientOp stop : function.front().getOps<StopGradientOp>()) {
      isFine = false;
      blame(Fault::Compiler, stop.emitError())
          << "gate of Differentiate: stop_gradient ops must be removed after differentiation";
    }
    return isFine;
  }
};

} // namespace
