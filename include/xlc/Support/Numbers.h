// Large numbers as people read them.
#ifndef XLC_SUPPORT_NUMBERS_H
#define XLC_SUPPORT_NUMBERS_H

#include <cstdint>
#include <string>

namespace xlc {

/// "1 234 567".
std::string groupDigits(int64_t number);

/// "1.24 PFLOP".
std::string formatFlops(int64_t flops);

} // namespace xlc

#endif
