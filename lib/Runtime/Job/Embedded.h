// The contents of the generated object of a program, and definitions common to all processes of a program.
#ifndef XLC_LIB_RUNTIME_JOB_EMBEDDED_H
#define XLC_LIB_RUNTIME_JOB_EMBEDDED_H

#include "Plan/Plan.h"
#include "xlc/Runtime/Kernel.h"

#include <csignal>
#include <cstdint>

namespace xlc::runtime {

/// The signals that request a program to stop; the threads of ranks block them.
inline constexpr int stoppingSignals[] = {SIGINT, SIGTERM, SIGHUP};

struct Embedded {
  PlanBytes plan;
  const XlcKernel *codes;
  uint64_t codeCount;
  const XlcImage *images;
  uint64_t imageCount;
};

} // namespace xlc::runtime

#endif
