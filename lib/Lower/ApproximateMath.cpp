// Functions of f32 as polynomials that vectors can evaluate (MLIR's, after Cephes and Eigen). Where those are not
// good (sin, cos) or do not exist (f64, pow) an element is a call of the C library per element.
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xlc/Lower/Lower.h"

namespace xlc {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "xlc/Lower/Passes.h.inc"
} // namespace xlc

using namespace mlir;

namespace {
struct ApproximateMathPass : xlc::impl::ApproximateMathPassBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef op) {
      return llvm::is_contained({"math.exp", "math.log", "math.tanh", "math.erf"}, op);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
