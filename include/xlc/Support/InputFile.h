// Opens files that a user names as input. A reader must not wait for a pipe, and a device has no end: both are detected
// before the first byte is read.
#ifndef XLC_SUPPORT_INPUTFILE_H
#define XLC_SUPPORT_INPUTFILE_H

#include <cstdint>
#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace xlc {

/// The name of standard input, used as a path. Files beside it are in the current folder.
inline constexpr llvm::StringLiteral kStdin = "<stdin>";

/// Opens a file, a pipe or a device for reading and returns its descriptor, which the caller closes. Only a file is
/// certain to have an end. A pipe is opened without waiting for a writer; without one it is empty. A file that is
/// standard input is read from its beginning each time it is opened.
llvm::Expected<int> openStream(llvm::StringRef path);

/// The bytes of a regular file of at most `most` bytes, as a copy that is independent of later changes of the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, int64_t most);

} // namespace xlc

#endif
