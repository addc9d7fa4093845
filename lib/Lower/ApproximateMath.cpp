// Functions of f32 as polynomials that vectors can evaluate (MLIR's, after Cephes and Eigen). What has none (f64, pow)
// becomes a call of the C library per element.
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
      return llvm::is_contained({"math.exp", "math.log", "math.tanh", "math.erf", "math.sin", "math.cos"}, op);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
