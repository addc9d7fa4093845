// See PythonFolders.h.
#include "PythonFolders.h"

#include <glob.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <sstream>

namespace xlc::runtime {
namespace {

constexpr char packages[] = "/lib/python3*/site-packages", ofDebian[] = "/lib/python3*/dist-packages";

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where the Python that a shell would start is installed: a virtual environment, conda's.
std::string findPython() {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/python3").c_str(), X_OK) == 0)
      return folder + "/..";
  return "";
}

} // namespace

std::vector<std::string> listActivePrefixes() {
  std::vector<std::string> found{variable("VIRTUAL_ENV"), findPython()};
  std::erase(found, "");
  return found;
}

std::vector<std::string> listActivePackages() {
  std::vector<std::string> found = listActivePrefixes();
  for (std::string &folder : found)
    folder += packages;
  return found;
}

std::vector<std::string> listInstalledPackages() {
  std::vector<std::string> found;
  if (std::string home = variable("HOME"); !home.empty())
    found.push_back(home + "/.local" + packages);
  for (const char *prefix : {"/usr/local", "/usr"})
    for (const char *folder : {ofDebian, packages})
      found.push_back(std::string(prefix) + folder);
  return found;
}

std::vector<std::string> findMatches(const std::string &pattern) {
  glob_t paths = {};
  std::vector<std::string> found;
  if (glob(pattern.c_str(), 0, nullptr, &paths) == 0)
    found.assign(std::make_reverse_iterator(paths.gl_pathv + paths.gl_pathc),
                 std::make_reverse_iterator(paths.gl_pathv));
  globfree(&paths);
  return found;
}

} // namespace xlc::runtime
