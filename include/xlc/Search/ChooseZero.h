// What DataParallel is told about ZeRO's open questions.
#ifndef XLC_SEARCH_CHOOSEZERO_H
#define XLC_SEARCH_CHOOSEZERO_H

#include "xlc/Search/Search.h"

namespace xlc {

/// What the spec says, and what it leaves open; of what it leaves open, the default.
ZeroChoice readZeroChoice(const Spec &spec);

/// The spec with each answer to what it leaves open; those that save memory first, which win where they move no more.
/// The spec itself where nothing is open that memory decides.
std::vector<std::pair<Spec, ZeroTrial>> listAnswers(const Spec &spec);

/// Of the plans that fit cluster.device_memory the one that moves the fewest bytes over dp; where none fits, the
/// smallest; where no memory is given, what saves memory. What cannot be planned is told to `tell`.
ZeroChoice chooseZero(const Spec &spec, const Planner &planner, const std::function<void(const std::string &)> &tell);

} // namespace xlc

#endif
