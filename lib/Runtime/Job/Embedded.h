// What the generated object of a program holds, and what every process of a program does alike.
#ifndef XLC_LIB_RUNTIME_JOB_EMBEDDED_H
#define XLC_LIB_RUNTIME_JOB_EMBEDDED_H

#include "Plan/Plan.h"
#include "xlc/Runtime/Kernel.h"

#include <csignal>
#include <cstdint>

namespace xlc::runtime {

/// The signals that ask a program to stop; ranks do not take them.
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
