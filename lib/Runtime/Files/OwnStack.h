// How much stack a process has does not depend on `ulimit -s`. Parsers, oneDNN and MLIR are tried with the 8 MiB of an ordinary
// system; where the limit is less they end with SIGSEGV, which no message can follow.
#ifndef XLC_LIB_RUNTIME_FILES_OWNSTACK_H
#define XLC_LIB_RUNTIME_FILES_OWNSTACK_H

#include <functional>

namespace xlc::runtime {

/// Returns what `work` does. Threads get 8 MiB of stack from now on; where this one may have less, `work` runs on another.
int runWithOwnStack(const std::function<int()> &work);

} // namespace xlc::runtime

#endif
