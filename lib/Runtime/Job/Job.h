// A whole run of a training program, from its arguments to the exit code.
#ifndef XLC_LIB_RUNTIME_JOB_JOB_H
#define XLC_LIB_RUNTIME_JOB_JOB_H

#include "Device/Target.h"
#include "Embedded.h"
#include "Failure.h"
#include "Settings.h"

#include <atomic>

namespace xlc::runtime {

/// Runs the program with the given arguments on devices of `target`. `signal` is 0, and is set from outside to end it after
/// the current step: to the number of a signal.
Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                const Settings &settings, std::atomic<int> &signal);

} // namespace xlc::runtime

#endif
