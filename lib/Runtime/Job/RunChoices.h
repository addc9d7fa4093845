// What of a run follows from the plan, the options and the checkpoint that it goes on from.
#ifndef XLC_LIB_RUNTIME_JOB_RUNCHOICES_H
#define XLC_LIB_RUNTIME_JOB_RUNCHOICES_H

#include "Embedded.h"
#include "Files/Parameters.h"
#include "Predictions.h"
#include "Resumption.h"
#include "World.h"

namespace xlc::runtime {

/// By which --lr scales all rates of the plan. Throws Rejected where it cannot.
double rateFactor(const Plan &plan, const Options &options);

/// The only place at which a run says how many steps its schedule has.
RateSchedule scheduleOfRun(const Plan &plan, uint64_t steps);

/// The steps of a run from its beginning: as many as see every row of the epochs. Where they fill no whole number of
/// steps, the last one goes on with the first rows of the epoch that follows. `done`: what runs before have.
uint64_t countSteps(const Plan &plan, const Options &options, const Data &data, const RunProgress &done);

/// How ranks run their streams: --check looks at each action by itself. Throws Rejected where the target cannot.
Overlap overlapOf(const Plan &plan, const Options &options);

/// What a device is made with, but for the machine.
DeviceSetup setupOf(const World &world, const Embedded &embedded, const Options &options);

/// Throws Rejected where steps are to be graphs on a target that has none.
void checkGraph(const Plan &plan, const Options &options);

/// What options say of data; the order of rows is by the seed of the run.
DataChoice choiceOfRun(const Plan &plan, const Options &options, const Resumption &resumption);

/// What the run evaluates on; null where it does not evaluate. Throws Rejected.
std::unique_ptr<const Data> openValidation(const Plan &plan, const Options &options);

/// What it writes of the model's outputs for these rows; null where it writes none. Throws Rejected.
std::unique_ptr<Predictions> openPredictions(const Plan &plan, const Options &options, const Data *validation);

/// Throws Rejected where norms of parameters cannot be logged, or steps not be examined.
void checkObservers(const World &world, const Options &options);

/// Throws Rejected where an average is to be saved that the plan does not keep.
void checkAverage(const Plan &plan, const Options &options);

/// What the run is trained on, where it has checkpoints; throws Rejected where it is not what the run until then was.
SavedData describeOfRun(const Plan &plan, const Options &options, const Data &data, const Resumption &resumption);

/// What parameters begin with. Throws Rejected.
InitialValues openValues(const Plan &plan, const Options &options, const Resumption &resumption);

} // namespace xlc::runtime

#endif
