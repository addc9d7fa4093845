// See Cudnn.h.
#include "Cudnn.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace xlc::runtime::cudnn {

Library::Library(const OpenedLibrary &library) {
  library.find(create, "cudnnCreate");
  library.find(destroy, "cudnnDestroy");
  library.find(getVersion, "cudnnGetVersion");
  library.find(describe, "cudnnGetErrorString");
  library.find(getLastError, "cudnnGetLastErrorString");
  library.find(setStream, "cudnnSetStream");
  library.find(createDescriptor, "cudnnBackendCreateDescriptor");
  library.find(destroyDescriptor, "cudnnBackendDestroyDescriptor");
  library.find(setAttribute, "cudnnBackendSetAttribute");
  library.find(getAttribute, "cudnnBackendGetAttribute");
  library.find(finalize, "cudnnBackendFinalize");
  library.find(execute, "cudnnBackendExecute");
  number = getVersion();
  if (number < oldestVersion)
    throw Rejected(fmt::format("error: cuDNN has version {} ({}), but programs need 9.6 or later: {}", version(),
                               library.path(), cudnnLibrary.howToGet));
}

void Library::requireRightAttention(const OpenedLibrary &library) const {
  if (std::ranges::count(wrongAttention, number))
    throw Rejected(fmt::format("error: cuDNN has version {} ({}), which computes attention incorrectly: {}", version(),
                               library.path(), cudnnLibrary.howToGet));
}

std::string Library::version() const {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string Library::lastError() const {
  std::array<char, 1024> text{};
  getLastError(text.data(), text.size());
  return text.data();
}

void Library::require(Status status, const char *function, const std::string &what) const {
  if (status == Status::Success)
    return;
  const char *words = describe(status);
  std::string more = lastError();
  throw DeviceFailure(fmt::format("{} failed for {}: status {}{}{}{}{}", function, what, (int)status, words ? ", " : "",
                                  words ? words : "", more.empty() ? "" : ": ", more));
}

} // namespace xlc::runtime::cudnn
