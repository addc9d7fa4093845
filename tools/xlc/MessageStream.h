// Standard error, as all commands write it: whole lines, escaped and limited (lib/Runtime/Files/Messages.h).
#ifndef XLC_TOOLS_XLC_MESSAGESTREAM_H
#define XLC_TOOLS_XLC_MESSAGESTREAM_H

#include "llvm/Support/raw_ostream.h"

namespace xlc {

/// The stream for everything that is no result. One for the process, as the limits are.
llvm::raw_ostream &messages();

} // namespace xlc

#endif
