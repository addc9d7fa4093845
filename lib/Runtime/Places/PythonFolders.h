// Finds folders of Python packages, since libraries that programs load are also distributed as packages.
#ifndef XLC_LIB_RUNTIME_PLACES_PYTHONFOLDERS_H
#define XLC_LIB_RUNTIME_PLACES_PYTHONFOLDERS_H

#include <string>
#include <vector>

namespace xlc::runtime {

/// The prefixes of the virtual environment and of the python3 on the PATH: folders that contain bin and lib.
std::vector<std::string> listActivePrefixes();
/// The package folders of these prefixes, as patterns of glob(7), such as /usr/lib/python3*/dist-packages, that may
/// have no match.
std::vector<std::string> listActivePackages();
/// The same for the package folders of the user and of the system.
std::vector<std::string> listInstalledPackages();

/// The files that match, the newest version of a name first.
std::vector<std::string> findMatches(const std::string &pattern);

} // namespace xlc::runtime

#endif
