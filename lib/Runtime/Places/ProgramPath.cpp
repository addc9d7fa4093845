// See ProgramPath.h.
#include "ProgramPath.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace xlc::runtime {

std::string programPath() {
  std::string path(4096, '\0');
  ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system's table has numbers
  return length > 0 ? path.substr(0, (size_t)length) : (const char *)getauxval(AT_EXECFN);
}

} // namespace xlc::runtime
