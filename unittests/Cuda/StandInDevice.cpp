// See StandInDevice.h. The program exports these functions to the library that it opens.
#include "StandInDevice.h"

#include <cstdio>
#include <unistd.h>

namespace xlc::test {

StandInDevice &standInDevice() {
  static StandInDevice device;
  return device;
}

void StandInDevice::finish() {
  for (simulate::Work &work : queue)
    work.run();
  queue.clear(), streams.clear();
}

} // namespace xlc::test

namespace xlc::simulate {

void enqueue(void *stream, Work work) {
  test::standInDevice().queue.push_back(std::move(work));
  test::standInDevice().streams.push_back(stream);
}

bool isToFail(const char *function) {
  test::StandInDevice &device = test::standInDevice();
  if (++device.calls != device.failingCall)
    return false;
  device.failed = function;
  return true;
}

void endWith(const std::string &what) {
  fprintf(stderr, "simulated device: %s\n", what.c_str());
  _exit(70);
}

} // namespace xlc::simulate
