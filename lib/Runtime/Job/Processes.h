// A job whose ranks are separate processes, started and watched by this one (--processes; the default on GPUs).
#ifndef XLC_LIB_RUNTIME_JOB_PROCESSES_H
#define XLC_LIB_RUNTIME_JOB_PROCESSES_H

#include "Crew.h"

namespace xlc::runtime {

/// Runs each rank of `crew` in a process, which calls `prepare` first; their memory must have been provided as a file.
/// In every case all processes end, and one message reports a failure. Throws NotStarted.
Exit runAsProcesses(const World &world, Crew &crew, const std::atomic<int> &signal,
                    const std::function<void(int rank)> &prepare);

} // namespace xlc::runtime

#endif
