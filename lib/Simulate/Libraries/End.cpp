// See Device.h.
#include "Device.h"

#include <cstdio>
#include <unistd.h>

void xlc::simulate::endWith(const std::string &what) {
  std::fprintf(stderr, "simulated device: %s\n", what.c_str());
  std::fflush(nullptr);
  _exit(70);
}
