// The bytes of a spec file, or of one that it names.
#ifndef XLC_LIB_SPEC_SPECTEXT_H
#define XLC_LIB_SPEC_SPECTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace xlc::spec {

/// A megabyte of spec is a mistake (a data file, a device), and reading on would not make it one.
inline constexpr size_t kMaxFileSize = 1 << 20;

/// Some editors put it before the text.
inline constexpr llvm::StringLiteral kByteOrderMark = "\xef\xbb\xbf";

/// Reads at most one byte more than is allowed, so that an endless file ends too.
llvm::Expected<std::string> readSpecText(llvm::StringRef path);

} // namespace xlc::spec

#endif
