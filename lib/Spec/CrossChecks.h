// Checks of the compatibility of values of a spec, for the table in CrossCheck.cpp. Each reports all of its errors.
#ifndef XLC_LIB_SPEC_CROSSCHECKS_H
#define XLC_LIB_SPEC_CROSSCHECKS_H

#include "Choices.h"
#include "Validate.h"
#include "xlc/Spec/Spec.h"

namespace xlc::spec {

/// Whether the user has written the key.
bool isGiven(const Spec &spec, llvm::StringRef key);
/// Adds a note at the place of the key, if the user has written it.
void noteIfGiven(const Spec &spec, llvm::StringRef key, const llvm::Twine &message, SpecErrors &errors);

// CheckPrecision.cpp: what is computed in sixteen bits, and what is kept in them
void checkKeep(Spec &spec, SpecErrors &errors);
void checkLossScale(Spec &spec, SpecErrors &errors);
void checkKeptNarrow(Spec &spec, SpecErrors &errors);
void checkRounding(Spec &spec, SpecErrors &errors);
void checkSquares(Spec &spec, SpecErrors &errors);
void checkProducts(Spec &spec, SpecErrors &errors);

// CheckSchedule.cpp: what a schedule of learning rates takes, and how gradients are clipped
void checkScheduleKeys(Spec &spec, SpecErrors &errors);
void checkScheduledSteps(Spec &spec, SpecErrors &errors);
void checkLeastRate(Spec &spec, SpecErrors &errors);
void checkClipping(Spec &spec, SpecErrors &errors);
/// Fills an empty mapping with the defaults.
void checkAverage(Spec &spec, SpecErrors &errors);
// CheckData.cpp: what is trained and evaluated on, and where checkpoints go
void checkData(Spec &spec, SpecErrors &errors);
void checkCheckpoint(Spec &spec, SpecErrors &errors);
// CheckEval.cpp: what evaluations tell, and what follows from them
void checkEval(Spec &spec, SpecErrors &errors);

// CheckDevices.cpp: what the devices of the cluster have and do
void checkDevice(Spec &spec, SpecErrors &errors);
void checkNodes(Spec &spec, SpecErrors &errors);
void checkWeightGradients(Spec &spec, SpecErrors &errors);

} // namespace xlc::spec

#endif
