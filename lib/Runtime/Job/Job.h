// A whole run of a training program, from its arguments to the exit code.
#ifndef XLC_LIB_RUNTIME_JOB_JOB_H
#define XLC_LIB_RUNTIME_JOB_JOB_H

#include "Device/Target.h"
#include "Embedded.h"
#include "Failure.h"
#include "Settings.h"

#include <atomic>

namespace xlc::runtime {

/// Runs the program with the given arguments on devices of `target`. `signal` is initially 0. It is set to the number
/// of a signal from outside, to end the run after the current step.
Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                const Settings &settings, std::atomic<int> &signal);

} // namespace xlc::runtime

#endif
