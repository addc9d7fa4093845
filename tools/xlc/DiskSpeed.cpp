// See DiskSpeed.h.
#include "DiskSpeed.h"

#include <chrono>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

using namespace xlc;

namespace {

constexpr size_t kBlock = 1 << 20, kBlocks = 256, kSmall = 4096, kSmallFiles = 16;

llvm::Error failure(const std::string &folder) {
  return llvm::createStringError(std::error_code(errno, std::generic_category()), "%s: cannot be written: %s",
                                 folder.c_str(), std::strerror(errno));
}

/// Writes a file that has no name any more, and syncs it. False: errno says why not.
bool writeFile(const std::string &folder, size_t block, size_t blocks) {
  std::string path = folder + "/xlc-doctor." + std::string(6, 'X'); // mkstemp replaces these six
  int file = mkstemp(path.data());
  if (file < 0)
    return false;
  unlink(path.c_str());
  std::vector<char> bytes(block, 'x'); // a file system may keep zeros as a hole
  bool isDone = true;
  for (size_t i = 0; i < blocks && isDone; ++i)
    isDone = write(file, bytes.data(), block) == (ssize_t)block;
  isDone = isDone && fsync(file) == 0;
  int why = errno;
  close(file);
  errno = why;
  return isDone;
}

} // namespace

llvm::Expected<DiskSpeed> xlc::measureDisk(const std::string &folder) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  if (!writeFile(folder, kBlock, kBlocks))
    return failure(folder);
  std::chrono::duration<double> large = Clock::now() - begin;
  begin = Clock::now();
  for (size_t i = 0; i < kSmallFiles; ++i)
    if (!writeFile(folder, kSmall, 1))
      return failure(folder);
  std::chrono::duration<double> small = Clock::now() - begin;
  return DiskSpeed{double(kBlock * kBlocks) / large.count(), small.count() / kSmallFiles};
}
