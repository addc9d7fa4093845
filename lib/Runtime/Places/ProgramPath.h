// The path of this program, from which files next to it are found.
#ifndef XLC_LIB_RUNTIME_PLACES_PROGRAMPATH_H
#define XLC_LIB_RUNTIME_PLACES_PROGRAMPATH_H

#include <string>

namespace xlc::runtime {

/// /proc/self/exe, or the path by which the program was started.
std::string programPath();

} // namespace xlc::runtime

#endif
