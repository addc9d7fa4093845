// Standard error for all commands: whole lines, escaped and limited (lib/Runtime/Files/Messages.h).
#ifndef XLC_TOOLS_XLC_MESSAGESTREAM_H
#define XLC_TOOLS_XLC_MESSAGESTREAM_H

#include "llvm/Support/raw_ostream.h"

namespace xlc {

/// The stream for everything except results. There is one for the process, since the limits are per process.
llvm::raw_ostream &messages();

} // namespace xlc

#endif
