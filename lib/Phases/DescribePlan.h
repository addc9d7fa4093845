// The parts of the embedded plan that are not in the IR.
#ifndef XLC_LIB_PHASES_DESCRIBEPLAN_H
#define XLC_LIB_PHASES_DESCRIBEPLAN_H

#include "Plan_generated.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// The fingerprint of model, layout and compiler; it excludes steps, learning rate and data. Requires the state after
/// Memory and before any later phase.
std::string makeFingerprint(const Compilation &compilation);

/// Fills everything except the fields of `fillPlan` and of the target. Requires the state after Memory and the
/// fingerprint.
std::unique_ptr<plan::PlanT> describePlan(const Compilation &compilation);

/// Describes the training and evaluation data, the evaluation steps and the checkpoints of a plan that has its inputs.
void describeData(const Compilation &compilation, plan::PlanT &plan);
void describeEvaluation(const Spec &spec, mlir::ModuleOp module, plan::PlanT &plan);
void describeCheckpoints(const Spec &spec, plan::PlanT &plan);

/// The spec's file of rows of an input, as an absolute path; empty if there is none. Names come from the model; a name
/// with a slash has a file only if the spec names it.
std::string dataPath(const RowsSpec &rows, llvm::StringRef input);

} // namespace xlc

#endif
