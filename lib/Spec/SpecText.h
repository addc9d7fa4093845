// The bytes of a spec file, or of a file that it names.
#ifndef XLC_LIB_SPEC_SPECTEXT_H
#define XLC_LIB_SPEC_SPECTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace xlc::spec {

/// A spec of more than a megabyte is a mistake (a data file, a device), so reading stops there.
inline constexpr size_t kMaxFileSize = 1 << 20;

/// The byte order mark that some editors write before the text.
inline constexpr llvm::StringLiteral kByteOrderMark = "\xef\xbb\xbf";

/// Reads at most one byte more than the limit, so that reading an endless file ends.
llvm::Expected<std::string> readSpecText(llvm::StringRef path);

} // namespace xlc::spec

#endif
