// A job whose ranks are processes of their own, started and watched by this one (--processes; on GPUs by default).
#ifndef XLC_LIB_RUNTIME_JOB_PROCESSES_H
#define XLC_LIB_RUNTIME_JOB_PROCESSES_H

#include "Crew.h"

namespace xlc::runtime {

/// Runs each rank of `crew` in a process, which calls `prepare` first; their memory was provided as a file. Whatever happens to
/// them, none is left, and one message says what. Throws NotStarted.
Exit runAsProcesses(const World &world, Crew &crew, const std::atomic<int> &signal,
                    const std::function<void(int rank)> &prepare);

} // namespace xlc::runtime

#endif
