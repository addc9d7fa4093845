// See OpenLibrary.h.
#include "OpenLibrary.h"

#include "Failure.h"
#include "Places/PythonFolders.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <link.h>

namespace xlc::runtime {
namespace {

constexpr char wheels[] = "/nvidia/*/lib/";

/// Patterns of folders, in the order in which they are looked at.
std::vector<std::string> listPlaces() {
  std::vector<std::string> places;
  for (const std::string &folder : listActivePackages())
    places.push_back(folder + wheels);
  places.emplace_back("/usr/local/cuda*/lib64/");
  for (const std::string &folder : listInstalledPackages())
    places.push_back(folder + wheels);
  places.emplace_back("/usr/lib/wsl/lib/"); // the driver, in Linux on Windows
  return places;
}

/// Whether the linker says of `file` itself, and not of a library that it needs, that there is none.
bool isMissing(const std::string &file, const std::string &said) {
  return file.find('/') == std::string::npos && said.rfind(file + ": cannot open shared object file", 0) == 0;
}

} // namespace

std::vector<std::string> listBesideLinker(const std::string &file) {
  std::vector<std::string> found;
  for (const std::string &place : listPlaces())
    for (std::string &path : findMatches(place + file))
      found.push_back(std::move(path));
  return found;
}

OpenedLibrary::OpenedLibrary(const LibraryFiles &files, const std::string &folder) : files(files) {
  std::string names;
  for (const char *name : files.files)
    if (name) {
      tryOpen(folder.empty() ? name : folder + "/" + name);
      names += (names.empty() ? "" : " or ") + std::string(name);
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
