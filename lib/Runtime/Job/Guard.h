// How a process ends for what is thrown in it, before its ranks run and after.
#ifndef XLC_LIB_RUNTIME_JOB_GUARD_H
#define XLC_LIB_RUNTIME_JOB_GUARD_H

#include "Failure.h"

#include <functional>

namespace xlc::runtime {

/// What `work` returns, or the exit code for what it throws, which is said.
Exit guard(const std::function<Exit()> &work);

} // namespace xlc::runtime

#endif
