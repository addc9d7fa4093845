// Removes the unused ops that a pattern leaves.
#ifndef XLC_LIB_RAISE_ERASEDEAD_H
#define XLC_LIB_RAISE_ERASEDEAD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace xlc {

/// Erases unused ops if the pass has matched: a scan over all ops takes longer than most passes.
inline void eraseDead(mlir::func::FuncOp function, bool hasFound) {
  mlir::IRRewriter rewriter(function.getContext());
  if (hasFound)
    (void)mlir::runRegionDCE(rewriter, function->getRegions());
}

} // namespace xlc

#endif
