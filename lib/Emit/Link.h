// From an object file to a program.
#ifndef XLC_LIB_EMIT_LINK_H
#define XLC_LIB_EMIT_LINK_H

#include "xlc/Emit/Emit.h"

namespace xlc {

/// Links the object file `object` with the runtime and the C and C++ libraries to the program `output`. Neither path may
/// begin with a dash.
mlir::LogicalResult linkProgram(const LinkFiles &files, llvm::StringRef object, llvm::StringRef output,
                                mlir::Location loc);

/// The same to a shared library, of the object alone.
mlir::LogicalResult linkShared(llvm::StringRef object, llvm::StringRef output, mlir::Location loc);

} // namespace xlc

#endif
