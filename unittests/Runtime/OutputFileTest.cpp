// Files are written completely or not at all, and only files are replaced.
#include "Files/OutputFile.h"
#include "Failure.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
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

TEST(OutputFile, NamesTheLimitOfAFileSize) {
  Folder folder;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before, small.rlim_cur = 1024;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string complaint;
  try {
    OutputFile file(folder.file("a"));
    file.write(std::string(4096, 'x'));
    file.publish();
  } catch (const Rejected &problem) {
    complaint = problem.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(complaint.find("File too large"), std::string::npos) << complaint;
  EXPECT_EQ(countFiles(folder.file("")), 0u);
}

} // namespace
