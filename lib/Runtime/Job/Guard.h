// Handles exceptions of a process, before its ranks run and after.
#ifndef XLC_LIB_RUNTIME_JOB_GUARD_H
#define XLC_LIB_RUNTIME_JOB_GUARD_H

#include "Failure.h"

#include <functional>

namespace xlc::runtime {

/// Returns the result of `work`. If it throws, prints the message and returns the exit code of the exception.
Exit guard(const std::function<Exit()> &work);

} // namespace xlc::runtime

#endif
