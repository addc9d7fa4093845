// The settings of a program from the environment. Only `main` reads the environment; all other code gets this struct.
#ifndef XLC_LIB_RUNTIME_JOB_SETTINGS_H
#define XLC_LIB_RUNTIME_JOB_SETTINGS_H

#include "Launch/Environment.h"

#include <atomic>
#include <functional>

namespace xlc::runtime {

struct Settings {
  Environment environment;   ///< for launchers, which have a table of variables
  std::string libraryFolder; ///< XLC_CUDA_LIBRARIES: the only folder that is searched for a vendor's libraries
  bool sharesDevice = false; ///< XLC_SHARE_GPU: ranks may share one GPU, for tests on a machine that has one
  /// The number of requests for a checkpoint to this process by SIGUSR1. Null: not supported.
  const std::atomic<uint64_t> *checkpointSignals = nullptr;
};

inline Settings readSettings(const Environment &environment) {
  auto get = [&](const char *name) -> std::string {
    const char *value = environment(name);
    return value ? value : "";
  };
  return {environment, get("XLC_CUDA_LIBRARIES"), !get("XLC_SHARE_GPU").empty()};
}

} // namespace xlc::runtime

#endif
