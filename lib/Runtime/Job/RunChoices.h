// The properties of a run that follow from the plan, the options and the checkpoint from which it is resumed.
#ifndef XLC_LIB_RUNTIME_JOB_RUNCHOICES_H
#define XLC_LIB_RUNTIME_JOB_RUNCHOICES_H

#include "Embedded.h"
#include "Files/Parameters.h"
#include "Predictions.h"
#include "Resumption.h"
#include "World.h"

namespace xlc::runtime {

/// The factor by which --lr scales all rates of the plan. Throws Rejected if it cannot.
double rateFactor(const Plan &plan, const Options &options);

/// The schedule of a run. Only this function states its number of steps.
RateSchedule scheduleOfRun(const Plan &plan, uint64_t steps);

/// The number of steps of a run from its start: enough for every row of the epochs. If the rows are not a whole number
/// of steps, the last step also uses the first rows of the next epoch. `done`: the steps of earlier runs.
uint64_t countSteps(const Plan &plan, const Options &options, const Data &data, const RunProgress &done);

/// How ranks run their streams: --check examines one action at a time. Throws Rejected if the target does not support
/// it.
Overlap overlapOf(const Plan &plan, const Options &options);

/// The arguments for the creation of a device, except for the machine.
DeviceSetup setupOf(const World &world, const Embedded &embedded, const Options &options);

/// Throws Rejected if steps must be graphs and the target has none.
void checkGraph(const Plan &plan, const Options &options);

/// The data options; the order of rows depends on the seed of the run.
DataChoice choiceOfRun(const Plan &plan, const Options &options, const Resumption &resumption);

/// The data of the run's evaluations; null if it does not evaluate. Throws Rejected.
std::unique_ptr<const Data> openValidation(const Plan &plan, const Options &options);

/// The writer of the model's outputs for these rows; null if none are written. Throws Rejected.
std::unique_ptr<Predictions> openPredictions(const Plan &plan, const Options &options, const Data *validation);

/// Throws Rejected if norms of parameters cannot be logged, or steps cannot be examined.
void checkObservers(const World &world, const Options &options);

/// Throws Rejected if an average must be saved that the plan does not keep.
void checkAverage(const Plan &plan, const Options &options);

/// The description of the run's training data, if it has checkpoints. Throws Rejected if it differs from that of the
/// earlier run.
SavedData describeOfRun(const Plan &plan, const Options &options, const Data &data, const Resumption &resumption);

/// The initial values of parameters. Throws Rejected.
InitialValues openValues(const Plan &plan, const Options &options, const Resumption &resumption);

} // namespace xlc::runtime

#endif
