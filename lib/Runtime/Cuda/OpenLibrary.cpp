// See OpenLibrary.h.
#include "OpenLibrary.h"

#include "Failure.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace xlc::runtime {
namespace {

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

struct Place {
  std::string folder;  ///< before the pattern; empty where the environment names none
  const char *pattern; ///< of folders
};
/// In the order in which they are looked at.
std::vector<Place> listPlaces() {
  static constexpr char wheels[] = "/lib/python3*/site-packages/nvidia/*/lib/";
  return {
      {variable("VIRTUAL_ENV"), wheels},
      {findPython(), wheels},
      {"/usr/local", "/cuda*/lib64/"},
      {variable("HOME"), "/.local/lib/python3*/site-packages/nvidia/*/lib/"},
      {"/usr/local", "/lib/python3*/dist-packages/nvidia/*/lib/"},
      {"/usr/local", wheels},
      {"/usr", "/lib/python3*/dist-packages/nvidia/*/lib/"},
      {"/usr", wheels},
      {"/usr", "/lib/wsl/lib/"}, // the driver, in Linux on Windows
  };
}

/// Whether the linker says of `file` itself, and not of a library that it needs, that there is none.
bool isMissing(const std::string &file, const std::string &said) {
  return file.find('/') == std::string::npos && said.rfind(file + ": cannot open shared object file", 0) == 0;
}

} // namespace

std::vector<std::string> listBesideLinker(const std::string &file) {
  std::vector<std::string> found;
  for (const Place &place : listPlaces()) {
    glob_t paths = {};
    if (!place.folder.empty() && glob((place.folder + place.pattern + file).c_str(), 0, nullptr, &paths) == 0)
      found.insert(found.end(), std::make_reverse_iterator(paths.gl_pathv + paths.gl_pathc), // the newest of a name's
                   std::make_reverse_iterator(paths.gl_pathv));
    globfree(&paths);
  }
  return found;
}

OpenedLibrary::OpenedLibrary(const LibraryFiles &files, const std::string &folder) : files(files) {
  std::string names;
  for (const char *name : files.files)
    if (name) {
      tryOpen(folder.empty() ? name : folder + "/" + name);
      names += (names.empty() ? "" : " and no ") + std::string(name);
    }
  if (folder.empty())
    for (const char *name : files.files)
      for (const std::string &path : name ? listBesideLinker(name) : std::vector<std::string>())
        tryOpen(path);
  if (!handle)
    throw Rejected(fmt::format("error: {} cannot be opened: {}: {}", files.name,
                               problem.empty() ? "no " + names + " was found" : problem, files.howToGet));
  link_map *opened = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, (void *)&opened) == 0 && opened)
    file = opened->l_name;
}

void OpenedLibrary::tryOpen(const std::string &path) {
  if (handle)
    return;
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *said = handle ? nullptr : dlerror();
  if (said && problem.empty() && !isMissing(path, said))
    problem = said;
}

void *OpenedLibrary::findSymbol(const char *symbol) const { return dlsym(handle, symbol); }

void OpenedLibrary::refuse(const char *symbol) const {
  throw Rejected(fmt::format("error: {} has no function '{}' in {}: {}", files.name, symbol, file, files.howToGet));
}

} // namespace xlc::runtime
