// Large numbers in human-readable form.
#ifndef XLC_SUPPORT_NUMBERS_H
#define XLC_SUPPORT_NUMBERS_H

#include <cstdint>
#include <string>

#include "xlc/Support/Quantity.h"
#include "llvm/ADT/StringRef.h"

namespace xlc {

/// "1 234 567".
std::string groupDigits(Quantity number);

/// "micro-batch" for 1, else "micro-batches".
std::string pluralOf(int64_t count, llvm::StringRef noun);

/// "1 micro-batch", "2 micro-batches". `noun` is the singular.
std::string formatCount(int64_t count, llvm::StringRef noun);

/// "1.24 PFLOP".
std::string formatFlops(Quantity flops);

/// "82.9 ms", "1.20 s"; not negative.
std::string formatSeconds(double seconds);

} // namespace xlc

#endif
