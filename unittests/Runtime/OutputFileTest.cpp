// Files are written completely or not at all, and only files are replaced.
#include "Files/OutputFile.h"
#include "Failure.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace xlc::runtime;
using tiny::Folder;
namespace fs = std::filesystem;

namespace {

size_t countFiles(const std::string &path) {
  return (size_t)std::distance(fs::directory_iterator(path), fs::directory_iterator());
}

std::string complaintOf(const std::string &path) {
  try {
    OutputFile file(path);
  } catch (const Rejected &problem) {
    return problem.what();
  }
  return "";
}

TEST(OutputFile, AppearsWhenItIsPublished) {
  Folder folder;
  std::string path = folder.write("a", "old");
  std::string large(1 << 18, 'x');
  {
    OutputFile file(path);
    file.write("header.");
    file.write(large);
    file.rewrite(0, "HEAD");
    EXPECT_EQ(folder.read("a"), "old");
    file.publish();
  }
  EXPECT_EQ(folder.read("a"), "HEADer." + large);
  EXPECT_EQ(countFiles(folder.file("")), 1u);
}

TEST(OutputFile, VanishesUnlessItIsPublished) {
  Folder folder;
  std::string path = folder.write("a", "old");
  {
    OutputFile(path).write("new");
  }
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(countFiles(folder.file("")), 1u);
}

/// Whether the page cache has the second MiB of a file.
bool isCached(const std::string &path) {
  constexpr size_t bytes = 1 << 20;
  int file = open(path.c_str(), O_RDONLY);
  void *begin = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, bytes);
  close(file);
  std::vector<unsigned char> pages(bytes / (size_t)sysconf(_SC_PAGESIZE));
  EXPECT_EQ(mincore(begin, bytes, pages.data()), 0);
  munmap(begin, bytes);
  return std::ranges::any_of(pages, [](unsigned char page) { return page & 1; });
}

/// Other file systems may accept O_DIRECT and use the cache.
bool canBypassCache(const std::string &path) {
  struct statfs info;
  return statfs(path.c_str(), &info) == 0 && (info.f_type == EXT4_SUPER_MAGIC || info.f_type == XFS_SUPER_MAGIC);
}

/// `isAwaited` is set from the beginning, from the third MiB on, or never.
TEST(OutputFile, BypassesThePageCacheUntilItIsAwaited) {
  constexpr size_t never = SIZE_MAX;
  Folder folder;
  std::string path = folder.file("a"), expected;
  for (size_t i = 0; expected.size() < (5 << 20) + 37; ++i)
    expected += std::to_string(i * i) + (i % 7 ? "," : std::string(4099, 'x'));
  for (size_t awaitedAt : {never, size_t(0), size_t(2 << 20)}) {
    {
      std::atomic<bool> isAwaited = false;
      OutputFile file(path);
      file.bypassCache(isAwaited);
      for (size_t at = 0, some = 1; at < expected.size(); at += some, some = some * 3 % 1500001) {
        isAwaited = at >= awaitedAt;
        file.write(at == 0 ? "?" : expected.data() + at, std::min(some, expected.size() - at));
      }
      file.rewrite(0, expected.substr(0, 1));
      file.publish();
    }
    if (awaitedAt == 0 || canBypassCache(folder.file("")))
      EXPECT_EQ(isCached(path), awaitedAt == 0);
    EXPECT_EQ(folder.read("a"), expected);
  }
}

TEST(OutputFile, KeepsTheRightsOfWhatItReplaces) {
  Folder folder;
  std::string path = folder.write("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  OutputFile(path).publish();
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(OutputFile, ReplacesWhatALinkNames) {
  Folder folder;
  std::string path = folder.write("a", "old"), link = folder.file("link");
  fs::create_symlink("a", link);
  OutputFile file(link);
  file.write("new");
  file.publish();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(folder.read("a"), "new");
}

TEST(OutputFile, RefusesWhatIsNoFile) {
  Folder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  fs::create_directory(folder.file("folder"));
  fs::create_symlink("absent", folder.file("link"));
  EXPECT_EQ(complaintOf("/dev/null"), "/dev/null: error: cannot be written: not a regular file");
  EXPECT_NE(complaintOf(folder.file("pipe")).find("not a regular file"), std::string::npos);
  EXPECT_NE(complaintOf(folder.file("folder")).find("Is a directory"), std::string::npos);
  EXPECT_NE(complaintOf(folder.file("link")).find("it is a link to a missing file"), std::string::npos);
  EXPECT_NE(complaintOf(folder.file("no/such/folder")).find("No such file or directory"), std::string::npos);
}

/// The error of writing `bytes` bytes where files may have `limit` bytes; no file remains.
std::string complaintOfLimit(rlim_t limit, size_t bytes, const std::atomic<bool> *isAwaited) {
  Folder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before, small;
  EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before, small.rlim_cur = limit;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string complaint;
  try {
    OutputFile file(folder.file("a"));
    if (isAwaited)
      file.bypassCache(*isAwaited);
    file.write(std::string(bytes, 'x'));
    file.publish();
  } catch (const Rejected &problem) {
    complaint = problem.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(countFiles(folder.file("")), 0u);
  return complaint;
}

TEST(OutputFile, NamesTheLimitOfAFileSize) {
  std::atomic<bool> isAwaited = false;
  EXPECT_NE(complaintOfLimit(1024, 4096, nullptr).find("File too large"), std::string::npos);
  // The first write of the second block is short and ends at an offset that O_DIRECT does not accept.
  EXPECT_NE(complaintOfLimit((3 << 20) + 100, 5 << 20, &isAwaited).find("File too large"), std::string::npos);
}

} // namespace
