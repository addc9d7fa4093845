// Where Python's packages are: libraries that programs open come as such, too.
#ifndef XLC_LIB_RUNTIME_PLACES_PYTHONFOLDERS_H
#define XLC_LIB_RUNTIME_PLACES_PYTHONFOLDERS_H

#include <string>
#include <vector>

namespace xlc::runtime {

/// Where the virtual environment and the python3 on the PATH are installed: folders that have bin and lib.
std::vector<std::string> listActivePrefixes();
/// Their folders of packages: patterns of glob(7), such as /usr/lib/python3*/dist-packages, that may match nothing.
std::vector<std::string> listActivePackages();
/// Likewise: the user's own, and those of the system.
std::vector<std::string> listInstalledPackages();

/// Files that match, the newest version of a name first.
std::vector<std::string> findMatches(const std::string &pattern);

} // namespace xlc::runtime

#endif
