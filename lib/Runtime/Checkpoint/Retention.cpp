// See Retention.h.
#include "Retention.h"

#include "Failure.h"
#include "Manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-", before = ".before";

[[noreturn]] void reject(const std::string &path, const char *what) {
  throw Rejected(fmt::format("{}: error: cannot be {}: {}", path, what, std::strerror(errno)));
}

/// The step and kind of a folder; none where its name is another.
std::optional<StepFolder> readName(const fs::path &path) {
  std::string name = path.filename().string();
  StepFolder folder{0, path.string(), false, name.ends_with(before)};
  if (folder.isBefore)
    name.resize(name.size() - before.size());
  if (!name.starts_with(prefix))
    return std::nullopt;
  auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), folder.step);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(folder) : std::nullopt;
}

bool hasManifest(const std::string &folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / manifestName, ignored);
}

/// Files of a folder, then the folder.
void removeFolder(const std::string &folder) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); entry != fs::directory_iterator(); entry.increment(error))
    if (unlink(entry->path().c_str()) != 0 && errno != ENOENT)
      reject(entry->path().string(), "removed");
  if (rmdir(folder.c_str()) != 0 && errno != ENOENT)
    reject(folder, "removed");
}

/// The same, as far as that is possible: whether it is gone.
bool tryRemoveFolder(const std::string &folder) {
  try {
    removeFolder(folder);
    return true;
  } catch (const Rejected &) {
    return false;
  }
}

} // namespace

std::string folderOfStep(const std::string &dir, uint64_t step) { return fmt::format("{}/{}{:08}", dir, prefix, step); }

std::vector<StepFolder> listStepFolders(const std::string &dir) {
  std::vector<StepFolder> folders;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(dir, ignored); entry != fs::directory_iterator(); entry.increment(ignored))
    if (std::optional<StepFolder> folder = readName(entry->path())) {
      folder->hasManifest = hasManifest(folder->path);
      folders.push_back(*folder);
    }
  std::ranges::sort(folders, [](const StepFolder &a, const StepFolder &b) {
    return std::pair(b.step, a.isBefore) < std::pair(a.step, b.isBefore);
  });
  return folders;
}

void syncFolder(const std::string &path) {
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    reject(path, "opened");
  int failed = fsync(folder) != 0 && errno != EINVAL ? errno : 0; // EINVAL: this file system has no such thing
  close(folder);
  errno = failed;
  if (failed)
    reject(path, "synced");
}

void makeFolder(const std::string &dir, uint64_t step) {
  std::string folder = folderOfStep(dir, step), aside = folder + std::string(before);
  if (mkdir(folder.c_str(), 0777) == 0)
    return;
  if (errno != EEXIST)
    reject(folder, "created");
  if (hasManifest(folder)) {
    removeFolder(aside);
    if (rename(folder.c_str(), aside.c_str()) != 0)
      reject(folder, "renamed");
    syncFolder(dir);
  } else {
    removeFolder(folder);
  }
  if (mkdir(folder.c_str(), 0777) != 0)
    reject(folder, "created");
}

void removeCheckpoint(const std::string &folder) {
  std::string manifest = folder + "/" + manifestName;
  if (unlink(manifest.c_str()) != 0 && errno != ENOENT)
    reject(manifest, "removed");
  syncFolder(folder);
  removeFolder(folder);
}

void removeTorn(const std::string &dir, uint64_t step) {
  std::string folder = folderOfStep(dir, step), aside = folder + std::string(before);
  bool isGone = tryRemoveFolder(folder);
  if (isGone) // else the next attempt meets it again
    rename(aside.c_str(), folder.c_str());
}

std::vector<StepFolder> findOutdated(const std::vector<StepFolder> &folders, const Retention &rule) {
  std::vector<StepFolder> outdated;
  uint64_t newer = 0;
  for (const StepFolder &folder : folders) {
    bool stays = folder.hasManifest && !folder.isBefore &&
                 (rule.keep == 0 || newer < rule.keep || (rule.every > 0 && folder.step % rule.every == 0) ||
                  folder.step == rule.best);
    if (!stays)
      outdated.push_back(folder);
    newer += folder.hasManifest && !folder.isBefore;
  }
  std::ranges::reverse(outdated);
  return outdated;
}

} // namespace xlc::runtime
