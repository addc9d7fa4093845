// A whole run of a training program: its ranks as threads of this process, step by step, to the exit code.
#ifndef XLC_LIB_RUNTIME_JOB_JOB_H
#define XLC_LIB_RUNTIME_JOB_JOB_H

#include "Device/Target.h"
#include "Failure.h"

#include <atomic>
#include <csignal>

namespace xlc::runtime {

/// The signals that ask a program to stop; ranks do not take them.
inline constexpr int stoppingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// What the generated object holds.
struct Embedded {
  const uint8_t *plan;
  uint64_t planBytes;
  const XlcKernel *codes;
  uint64_t codeCount;
};

/// Runs the program with the given arguments on devices of `target`; `interrupted` is set from outside to end it after the
/// current step.
Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                const std::atomic<bool> &interrupted);

} // namespace xlc::runtime

#endif
