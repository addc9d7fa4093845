// The parts of the embedded plan that the IR does not hold.
#ifndef XLC_LIB_PHASES_DESCRIBEPLAN_H
#define XLC_LIB_PHASES_DESCRIBEPLAN_H

#include "Plan_generated.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// Of model, layout and compiler; not of steps, learning rate or data. The compilation has been through Memory, and
/// nothing else yet.
std::string makeFingerprint(const Compilation &compilation);

/// Everything but what `fillPlan` and the target fill. The compilation has been through Memory and has its fingerprint.
std::unique_ptr<plan::PlanT> describePlan(const Compilation &compilation);

/// Of a plan that has its inputs: what a run is trained and evaluated on, when it evaluates, and its checkpoints.
void describeData(const Compilation &compilation, plan::PlanT &plan);
void describeEvaluation(const Spec &spec, mlir::ModuleOp module, plan::PlanT &plan);
void describeCheckpoints(const Spec &spec, plan::PlanT &plan);

/// The spec's file of rows of an input, as an absolute path; empty where there is none. Names come from the model;
/// a name with a slash has a file only where the spec names it.
std::string dataPath(const RowsSpec &rows, llvm::StringRef input);

} // namespace xlc

#endif
