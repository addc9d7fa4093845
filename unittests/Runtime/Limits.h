// Limits of the process, for the lifetime of these objects.
#ifndef XLC_UNITTESTS_RUNTIME_LIMITS_H
#define XLC_UNITTESTS_RUNTIME_LIMITS_H

#include <cstdint>
#include <sys/resource.h>
#include <unistd.h>

namespace xlc::runtime {

class Limited {
public:
  Limited(__rlimit_resource resource, uint64_t most) : resource(resource) {
    getrlimit(resource, &before);
    rlimit now{most, before.rlim_max};
    setrlimit(resource, &now);
  }
  ~Limited() { setrlimit(resource, &before); }
  Limited(const Limited &) = delete;

private:
  const __rlimit_resource resource;
  rlimit before = {};
};

/// So many descriptors more.
class Descriptors : Limited {
public:
  explicit Descriptors(int left) : Limited(RLIMIT_NOFILE, (uint64_t)(lowestFree() + left)) {}

private:
  static int lowestFree() {
    int next = dup(0);
    close(next);
    return next;
  }
};

} // namespace xlc::runtime

#endif
