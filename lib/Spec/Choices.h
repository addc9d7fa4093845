// What the key table says of the rows of other tables: the choices of a key, its default and what it means, so that a
// new row (a schedule, an optimizer, a target) is a choice at once.
#ifndef XLC_LIB_SPEC_CHOICES_H
#define XLC_LIB_SPEC_CHOICES_H

#include "xlc/Dialect/Graph/Optimizers.h"
#include "xlc/Runtime/RateSchedules.h"
#include "xlc/Target/TargetFacts.h"

namespace xlc::spec {

/// "sgd|adam|...", as Key::choices.
std::string optimizerNames();
/// "adam, adamw: " and the words: what a key means to the update rules that take it.
std::string ofTakers(HyperParameter which, llvm::StringRef words);

/// "constant|linear|...", as Key::choices.
std::string rateScheduleNames();
/// "cosine, polynomial: " and the words: what a key means to the schedules that take it.
std::string ofTakers(runtime::ScheduleKey which, llvm::StringRef words);
/// "cosine, polynomial and wsd".
std::string listTakers(runtime::ScheduleKey which, llvm::StringRef last);

/// "gpipe|1f1b|...", as Key::choices.
std::string scheduleNames();
/// "1, or 2 with interleaved and zb-v": chunks for each rank of a pipeline whose spec gives none.
std::string describeDefaultChunks();

/// "cpu|cuda", as Key::choices.
std::string targetNames();
/// What each is made for.
std::string describeTargets();
/// "target: cuda", or more of them: those of which a fact holds, or does not.
std::string describeTargets(bool TargetFacts::*fact, bool value);

} // namespace xlc::spec

#endif
