// The device behind the simulated libraries, as small as it can be: what is enqueued waits until somebody lets it run, so a
// test notices what does not wait for it.
#ifndef XLC_UNITTESTS_CUDA_STANDINDEVICE_H
#define XLC_UNITTESTS_CUDA_STANDINDEVICE_H

#include "Simulate/Libraries/Device.h"

namespace xlc::test {

struct StandInDevice {
  std::vector<simulate::Work> queue;
  std::vector<void *> streams;        ///< of each
  int64_t calls = 0, failingCall = 0; ///< counted from 1; 0: none fails
  std::string failed;                 ///< the function that did

  /// Forgets all that was.
  void reset(int64_t toFail = 0) { *this = {}, failingCall = toFail; }
  /// Lets all run, in the order in which it came.
  void finish();
};
StandInDevice &standInDevice();

} // namespace xlc::test

#endif
