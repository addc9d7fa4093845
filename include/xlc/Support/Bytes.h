// Sizes in bytes in human-readable form: "25MiB", "24GB".
//
// A bare number is not a size: 24 could be bytes or gigabytes, and guessing wrong costs a night of a cluster. Reading
// therefore requires a unit, and printing always includes one.
#ifndef XLC_SUPPORT_BYTES_H
#define XLC_SUPPORT_BYTES_H

#include <cstdint>
#include <optional>
#include <string>

#include "xlc/Support/Quantity.h"
#include "llvm/ADT/StringRef.h"

namespace xlc {

/// The units that parseBytes accepts, for messages: "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB".
llvm::StringRef byteUnits();

/// Reads a non-negative size with a unit. A fraction is allowed if it is a whole number of bytes within rounding
/// ("1.5GiB"). None: no unit, an unknown unit, not a number, or 2^63 and above. `reason`, if given, then states which
/// in a few words ("a size in bytes needs a unit, for example 25MiB").
std::optional<int64_t> parseBytes(llvm::StringRef text, std::string *reason = nullptr);

/// "25 MiB", "1.50 GiB", "17 B": in the largest binary unit in which the number is at least 1.
std::string formatBytes(Quantity bytes);

} // namespace xlc

#endif
