// Opening what a user names as an input. A pipe must not be waited for, and a device has no end: both are known before
// the first byte is read.
#ifndef XLC_SUPPORT_INPUTFILE_H
#define XLC_SUPPORT_INPUTFILE_H

#include <cstdint>
#include <memory>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace xlc {

/// The name of standard input, in place of a path. What is beside it is in the current folder.
inline constexpr llvm::StringLiteral kStdin = "<stdin>";

/// Opens a file, a pipe or a device for reading and returns its descriptor, which the caller closes. Only a file has an
/// end for sure. A pipe is opened without waiting for who writes: where nobody does, it is empty.
/// A file that is standard input is read from its begin, as often as it is opened.
llvm::Expected<int> openStream(llvm::StringRef path);

/// The bytes of a regular file of at most `most` bytes: a copy, which stays as it is whatever becomes of the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path, int64_t most);

} // namespace xlc

#endif
