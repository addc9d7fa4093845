// Checks the output paths of a run before any file is opened: a mistake on the command line must not empty a file that
// the run reads, and hours of training must not end in a folder that does not exist.
#ifndef XLC_LIB_RUNTIME_JOB_OUTPUTS_H
#define XLC_LIB_RUNTIME_JOB_OUTPUTS_H

#include "Options.h"
#include "Plan/Plan.h"

namespace xlc::runtime {

/// The file of initial values next to the executable: its own path with ".safetensors" appended. Without /proc it is
/// derived from the path by which the program was started.
std::string besidePath();

/// Throws Rejected with all errors if --log, --save, --save-trained, --save-ema, --stats, --profile, --tune or a file
/// of --predict is a file that the run reads, the program, or another output, or cannot be written. Creates and changes
/// nothing.
void checkOutputs(const Plan &plan, const Options &options);

} // namespace xlc::runtime

#endif
