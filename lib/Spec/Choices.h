// The values that the key table derives from the rows of other tables: the choices of a key, its default and its
// meaning, so that a new row (a schedule, an optimizer, a target) is a choice at once.
#ifndef XLC_LIB_SPEC_CHOICES_H
#define XLC_LIB_SPEC_CHOICES_H

#include "xlc/Dialect/Graph/Optimizers.h"
#include "xlc/Runtime/RateSchedules.h"
#include "xlc/Target/TargetFacts.h"

namespace xlc::spec {

/// "sgd|adam|...", as Key::choices.
std::string optimizerNames();
/// "adam, adamw: " and the words: the meaning of a key for the update rules that take it.
std::string ofTakers(HyperParameter which, llvm::StringRef words);

/// "constant|linear|...", as Key::choices.
std::string rateScheduleNames();
/// "cosine, polynomial: " and the words: the meaning of a key for the schedules that take it.
std::string ofTakers(runtime::ScheduleKey which, llvm::StringRef words);
/// "cosine, polynomial and wsd".
std::string listTakers(runtime::ScheduleKey which, llvm::StringRef last);

/// "gpipe|1f1b|...", as Key::choices.
std::string scheduleNames();
/// "1, or 2 with interleaved and zb-v": chunks for each rank of a pipeline whose spec states none.
std::string describeDefaultChunks();

/// "cpu|cuda", as Key::choices.
std::string targetNames();
/// The purpose of each target.
std::string describeTargets();
/// "cuda", or several targets: those for which a fact is true, or is false.
std::string describeTargets(bool TargetFacts::*fact, bool value);

} // namespace xlc::spec

#endif
