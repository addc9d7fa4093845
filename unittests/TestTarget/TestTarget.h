// A target for tests: the CPU behind a device that counts what is asked of it, and whose addresses are none of the host's.
// Who reads or writes planned memory without its device ends with a fault.
#ifndef XLC_UNITTESTS_TESTTARGET_TESTTARGET_H
#define XLC_UNITTESTS_TESTTARGET_TESTTARGET_H

#include "Device/Target.h"

#include <atomic>

namespace xlc::runtime {

/// Calls of the devices of all ranks.
struct DeviceCounts {
  std::atomic<uint64_t> allocate{0}, prepare{0}, run{0}, write{0}, read{0}, fill{0}, copy{0}, combine{0};
};

/// Devices add to `counts` from now on.
const Target &countingTarget(DeviceCounts &counts);

} // namespace xlc::runtime

#endif
