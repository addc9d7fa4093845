// The choices that are passed to DataParallel where the spec leaves options of ZeRO open.
#ifndef XLC_SEARCH_CHOOSEZERO_H
#define XLC_SEARCH_CHOOSEZERO_H

#include "xlc/Search/Search.h"

namespace xlc {

/// The choices of the spec, with the default for those that it leaves open.
ZeroChoice readZeroChoice(const Spec &spec);

/// The spec with each answer to its open choices. Answers that save memory come first; they win if they do not move
/// more bytes. Returns the spec itself if memory decides none of its choices.
std::vector<std::pair<Spec, ZeroTrial>> listAnswers(const Spec &spec);

/// Of the plans that fit cluster.device_memory, the one that moves the fewest bytes over dp; if none fits, the
/// smallest; if no memory is given, the answers that save memory. Reports plans that are not possible to `tell`.
ZeroChoice chooseZero(const Spec &spec, const Planner &planner, const std::function<void(const std::string &)> &tell);

} // namespace xlc

#endif
