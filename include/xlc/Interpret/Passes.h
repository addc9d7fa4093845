// Passes of the reference interpreter, see Passes.td.
#ifndef XLC_INTERPRET_PASSES_H
#define XLC_INTERPRET_PASSES_H

#include "mlir/Pass/Pass.h"

namespace xlc::interpret {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xlc/Interpret/Passes.h.inc"
} // namespace xlc::interpret

#endif
