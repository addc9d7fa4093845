// Where this program is: what lies beside it is found so.
#ifndef XLC_LIB_RUNTIME_PLACES_PROGRAMPATH_H
#define XLC_LIB_RUNTIME_PLACES_PROGRAMPATH_H

#include <string>

namespace xlc::runtime {

/// /proc/self/exe, or what the program was started by.
std::string programPath();

} // namespace xlc::runtime

#endif
