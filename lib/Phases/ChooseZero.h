// What DataParallel is told about ZeRO's open questions.
#ifndef XLC_LIB_PHASES_CHOOSEZERO_H
#define XLC_LIB_PHASES_CHOOSEZERO_H

#include "xlc/DataParallel/ZeroChoice.h"
#include "xlc/Phases/Phases.h"

namespace xlc {

/// `compilation` is as Stage leaves it, and stays so. Of the plans that fit cluster.device_memory the one that moves
/// the fewest bytes over dp; where none fits, the smallest; where no memory is given, what saves memory.
ZeroChoice chooseZero(const Compilation &compilation);

} // namespace xlc

#endif
