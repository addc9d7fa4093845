// Library calls at each level of processors that this machine has.
#ifndef XLC_UNITTESTS_RUNTIME_CPULEVELS_H
#define XLC_UNITTESTS_RUNTIME_CPULEVELS_H

#include "Cpu/Vector.h"
#include "xlc/Runtime/CpuLevel.h"

#include <vector>

namespace xlc::test {

/// Our library calls up to a level, until the end of the scope.
struct AtLevel {
  explicit AtLevel(runtime::CpuLevel level) { runtime::limitOwnLibrary(level); }
  ~AtLevel() { runtime::limitOwnLibrary(runtime::findHostLevel()); }
};
inline std::vector<runtime::CpuLevel> levelsHere() {
  std::vector<runtime::CpuLevel> levels;
  for (runtime::CpuLevel level :
       {runtime::CpuLevel::V1, runtime::CpuLevel::V3, runtime::CpuLevel::V4, runtime::CpuLevel::V4Bf16})
    if (level <= runtime::findHostLevel())
      levels.push_back(level);
  return levels;
}

} // namespace xlc::test

#endif
