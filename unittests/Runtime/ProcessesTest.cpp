// Ranks as processes: the same bits and files as with threads, and an orderly end whatever happens to one of them.
#include "Launch/Children.h"
#include "Launch/Segment.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;
using testing::internal::CaptureStderr;
using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStderr;
using testing::internal::GetCapturedStdout;

namespace {

struct Outcome {
  Exit exit;
  std::string shown, said, losses, parameters, stats;
};

/// Lines without what differs from run to run.
std::string findLosses(const std::string &log) {
  std::string losses;
  for (size_t at = 0; (at = log.find("\"loss\":", at)) != log.npos; ++at)
    losses += log.substr(at, log.find(',', at) - at) + "\n";
  return losses;
}

class Processes : public testing::Test {
protected:
  void SetUp() override { writeData(folder); }
  Outcome train(const Plan &plan, std::vector<std::string> arguments) {
    CaptureStdout(), CaptureStderr();
    Exit exit = run(plan, folder, std::move(arguments));
    std::string said = GetCapturedStderr(), shown = GetCapturedStdout();
    return {exit, shown, said, findLosses(folder.read("log")), folder.read("w"), folder.read("stats")};
  }
  std::vector<std::string> all(const std::string &steps, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{
        "--steps", steps, "--log", folder.file("log"), "--save", folder.file("w"), "--stats", folder.file("stats")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Folder folder;
};

/// Of this process.
size_t countFiles() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST_F(Processes, LearnAndWriteWhatThreadsDo) {
  for (const Plan &plan : {makePlan(0), makePlan(3), makeStages()}) {
    Outcome threads = train(plan, all("7"));
    for (const std::vector<std::string> &more : {std::vector<std::string>{}, {"--overlap", "threads"}, {"--check"}}) {
      std::vector<std::string> arguments = all("7", more);
      arguments.push_back("--processes");
      Outcome processes = train(plan, arguments);
      EXPECT_EQ(processes.exit, Exit::Done) << processes.said;
      EXPECT_EQ(processes.said, "");
      EXPECT_EQ(std::ranges::count(processes.shown, '\n'), 7) << processes.shown;
      EXPECT_NE(processes.losses, "");
      EXPECT_EQ(processes.losses, threads.losses);
      EXPECT_EQ(processes.parameters, threads.parameters);
      EXPECT_EQ(processes.stats.substr(0, processes.stats.find("outside")),
                threads.stats.substr(0, threads.stats.find("outside")));
    }
  }
}

TEST_F(Processes, TracesHaveTheEventsOfAllOfThem) {
  ASSERT_EQ(train(makePlan(3), {"--steps", "2", "--processes", "--profile", folder.file("trace")}).exit, Exit::Done);
  std::string trace = folder.read("trace");
  for (const char *name : {"\"name\":\"rank 1\"", "\"name\":\"gather w\",\"cat\":\"collective\",\"pid\":0",
                           "\"name\":\"update\",\"cat\":\"call\",\"pid\":1"})
    EXPECT_NE(trace.find(name), std::string::npos) << name;
}

TEST_F(Processes, AFailureIsSaidOnceWithTheExitCodeOfThreads) {
  Outcome fault = train(makeStages(), {"--steps", "500", "--processes", "--inject-fault", "3:2:update"});
  EXPECT_EQ(fault.exit, Exit::RankFailed);
  EXPECT_EQ(fault.said, "error: rank 3, step 2, action 'update', tensor 'w': a fault was injected here\n");
  Outcome infinite = train(makePlan(0), {"--steps", "9", "--processes", "--lr", "1e30", "--no-examine"});
  EXPECT_EQ(infinite.exit, Exit::NonFinite);
  EXPECT_NE(infinite.said.find("the loss is not finite: "), std::string::npos) << infinite.said;
  EXPECT_EQ(std::ranges::count(infinite.said, '\n'), 1) << infinite.said;
  Plan plan = makePlan(3);
  plan.traffic[0]->all_gather += 4;
  Outcome differing = train(plan, {"--steps", "2", "--processes"});
  EXPECT_EQ(differing.exit, Exit::Internal);
  EXPECT_EQ(differing.said,
            "error: the run differs from the plan: 1032 bytes planned for all_gather, 1024 used in 2 steps\n");
}

TEST_F(Processes, ASignalEndsThemAfterTheStep) {
  CaptureStdout(), CaptureStderr();
  Exit exit = runInterrupted(makePlan(0), folder, all("9", {"--processes"}));
  EXPECT_EQ(GetCapturedStderr(), "stopped after step 1, saves " + folder.file("w") + "\n");
  GetCapturedStdout();
  EXPECT_EQ(exit, Exit::Done);
  EXPECT_EQ(folder.read("w"), train(makePlan(0), all("1")).parameters);
}

TEST_F(Processes, WakeEachOther) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(train(makePlan(3), all("200", {"--processes"})).exit, Exit::Done);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)); // each wait would take up to 50 ms
}

TEST_F(Processes, AreHeardWhereTheirSignalIsIgnored) {
  auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(train(makePlan(3), all("2", {"--processes"})).exit, Exit::Done);
  EXPECT_EQ(train(makePlan(3), {"--steps", "9", "--processes", "--inject-fault", "1:2:begin"}).exit, Exit::RankFailed);
  std::signal(SIGCHLD, before);
}

TEST_F(Processes, NoneIsLeftAndNoFile) {
  size_t before = countFiles();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(train(makePlan(3), all("2", {"--processes"})).exit, Exit::Done);
  EXPECT_EQ(countFiles(), before);
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Segment, IsSharedAndHasTheSizeThatAllExpect) {
  Segment first = Segment::make(3 << 20), second(OwnedFile(dup(first.file())), 3 << 20);
  EXPECT_NE(first.begin(), second.begin());
  EXPECT_EQ((uintptr_t)second.begin() % (2 << 20), 0u);
  first.begin()[(3 << 20) - 1] = 'x';
  EXPECT_EQ(second.begin()[(3 << 20) - 1], 'x');
  EXPECT_NE(ftruncate(second.file(), 1 << 20), 0);
  try {
    Segment(OwnedFile(dup(first.file())), 1 << 20);
    ADD_FAILURE();
  } catch (const NotStarted &problem) {
    EXPECT_STREQ(problem.what(),
                 "error: cannot allocate 1048576 bytes of shared memory: another process created it with "
                 "a different size");
  }
}

TEST_F(Processes, WithoutMemoryNoneIsStarted) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little{1 << 20, before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  CaptureStdout(), CaptureStderr();
  Exit exit = run(makePlan(0), folder, {"--processes", "--steps", "1"});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  std::string said = GetCapturedStderr();
  GetCapturedStdout();
  EXPECT_EQ(exit, Exit::RankFailed);
  EXPECT_TRUE(said.starts_with("error: cannot allocate ")) << said;
  EXPECT_TRUE(said.ends_with(" bytes of shared memory: File too large\n")) << said;
}

TEST(Children, TellHowTheyEnded) {
  Children children(3, [](int rank, const Peers &) {
    if (rank == 1)
      raise(SIGKILL);
    return rank * 3;
  });
  std::map<int, std::string> how;
  while (children.isAnyLeft())
    if (auto ended = children.wait(std::chrono::seconds(5)))
      how[ended->rank] = ended->how;
  EXPECT_EQ(how, (std::map<int, std::string>{{0, "its process exited with code 0"},
                                             {1, "its process was killed by signal 9 (Killed)"},
                                             {2, "its process exited with code 6"}}));
}

TEST(Children, NoticeThatTheirStarterHasGoneAlsoWhileOthersAreThere) {
  int report[2], release[2]; // nobody writes to the second: it is closed
  ASSERT_EQ(pipe(report), 0);
  ASSERT_EQ(pipe(release), 0);
  pid_t starter = fork();
  if (starter == 0) {
    close(release[1]);
    Children children(3, [&](int rank, const Peers &line) {
      while (!line.findGone([](int) { return true; }))
        usleep(1000);
      char gone = (char)('0' + rank);
      bool isTold = write(report[1], &gone, 1) == 1;
      return isTold && read(release[0], &gone, 1) == 0 ? 0 : 1;
    });
    usleep(50000);
    _exit(0); // without an end for the children
  }
  close(report[1]);
  std::string gone;
  for (pollfd asked{report[0], POLLIN, 0}; gone.size() < 3 && poll(&asked, 1, 5000) == 1;) {
    char next;
    ASSERT_EQ(read(report[0], &next, 1), 1);
    gone += next;
  }
  std::ranges::sort(gone);
  EXPECT_EQ(gone, "012");
  for (int end : {report[0], release[0], release[1]})
    close(end);
  waitpid(starter, nullptr, 0);
}

} // namespace
