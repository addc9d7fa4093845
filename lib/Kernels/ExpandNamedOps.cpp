// Expands the named ops of generated kernels into small ops, so that the emitter handles arithmetic only.
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Kernels/Kernels.h"

namespace xlc {
#define GEN_PASS_DEF_EXPANDNAMEDOPSPASS
#include "xlc/Kernels/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

struct ExpandNamedOpsPass : xlc::impl::ExpandNamedOpsPassBase<ExpandNamedOpsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto kind = exec::findKernelKind(function); kind && kind != exec::KernelKind::library)
        expandNamedOps(function);
  }
};

} // namespace

void xlc::expandNamedOps(func::FuncOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(kernel.front()))
    graph::expandNamedOp(&op);
  // Results that nobody asked for.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
