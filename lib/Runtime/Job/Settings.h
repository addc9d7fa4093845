// What the environment says to a program. `main` reads it; all behind it get this struct.
#ifndef XLC_LIB_RUNTIME_JOB_SETTINGS_H
#define XLC_LIB_RUNTIME_JOB_SETTINGS_H

#include "Launch/Environment.h"

#include <atomic>
#include <functional>

namespace xlc::runtime {

struct Settings {
  Environment environment;   ///< of launchers, which have a table of variables
  std::string libraryFolder; ///< XLC_CUDA_LIBRARIES: the only folder in which a vendor's libraries are looked for
  bool sharesDevice = false; ///< XLC_SHARE_GPU: ranks may have one GPU, for tests on a machine that has one
  /// How often this process has been asked for a checkpoint, by SIGUSR1. Null: it cannot be.
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
