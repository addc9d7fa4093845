// Definitions shared by the writer and the reader of manifests.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_MANIFESTTEXT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_MANIFESTTEXT_H

#include "Files/Checksum.h"

namespace xlc::runtime {

/// The version of the format.
inline constexpr uint64_t manifestVersion = 1;
/// The text before the digits of the manifest's own checksum, which is computed with zeros in their place.
inline constexpr std::string_view manifestChecksumKey = "\"checksum\":\"";
inline constexpr std::string_view manifestNoDigits = "0000000000000000";
static_assert(manifestNoDigits.size() == checksumDigits);

inline std::string checksumOfText(std::string_view text) {
  Checksum checksum;
  checksum.add(text.data(), text.size());
  return checksum.digits();
}

} // namespace xlc::runtime

#endif
