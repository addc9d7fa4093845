// A second purpose, made by hand: what a feature that evaluates is going to do within the phases.
#ifndef XLC_UNITTESTS_EVALUATION_ADDEVALUATION_H
#define XLC_UNITTESTS_EVALUATION_ADDEVALUATION_H

#include "mlir/IR/BuiltinOps.h"

namespace xlc::test {

/// Gives a module after Schedule timelines that evaluate: the forward half of those that train, with messages of their
/// own, and a function that makes the loss of its sums.
void addEvaluation(mlir::ModuleOp module);

} // namespace xlc::test

#endif
