// Where a run writes to, checked before anything is opened: a file that it reads must not be emptied by a slip of the
// command line, and hours of training must not end in a folder that does not exist.
#ifndef XLC_LIB_RUNTIME_JOB_OUTPUTS_H
#define XLC_LIB_RUNTIME_JOB_OUTPUTS_H

#include "Options.h"
#include "Plan/Plan.h"

namespace xlc::runtime {

/// The file of initial values beside the executable: its own path with ".safetensors"; where there is no /proc, the
/// path by which it was started.
std::string besidePath();

/// Throws Rejected with all that is wrong where --log, --save, --save-trained, --save-ema, --stats, --profile, --tune
/// or a file of --predict is a file that the run reads, the program, or another output, or cannot be written. Creates
/// and changes nothing.
void checkOutputs(const Plan &plan, const Options &options);

} // namespace xlc::runtime

#endif
