// The meeting of a launcher's processes: each rank is a thread here, with a socket of its own.
#include "Launch/Gather.h"
#include "Failure.h"
#include "Files/Checksum.h"
#include "Limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace xlc::runtime;

namespace {

/// The job of one test.
Launch makeLaunch() {
  static int number = 0;
  return {"torchrun",  "WORLD_SIZE=3",
          0,           3,
          "",          3,
          0,           "test " + std::to_string(getpid()) + " " + std::to_string(++number),
          nullptr,     nullptr,
          std::nullopt};
}

/// What becomes of processes that introduce themselves so, by number: "on", "off", or the message.
std::vector<std::string> meet(const std::vector<Introduction> &all, double seconds = 20) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  std::vector<std::string> outcomes(all.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] {
      usleep(20000 * (unsigned)i); // the order of the list
      try {
        Patience patience{seconds, signal};
        if (all[i].rank == 0) {
          Segment segment = Segment::make(4096);
          segment.begin()[5] = 'x';
          std::optional<Peers> lines = gatherRanks(launch, all[i], patience, segment.file());
          outcomes[i] = lines ? "on" : "off";
          while (lines && !lines->findGone([](int) { return true; }))
            usleep(1000);
        } else if (std::optional<Joined> joined = joinRankZero(launch, all[i], patience)) {
          Segment segment(std::move(joined->memory), 4096);
          outcomes[i] = segment.begin()[5] == 'x' ? "on" : "on, with other memory";
        } else {
          outcomes[i] = "off";
        }
      } catch (const Rejected &problem) {
        outcomes[i] = problem.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return outcomes;
}

Introduction rank(uint64_t number, const char *plan = "p", const char *program = "q", const char *options = "o") {
  return {number, 3, plan, program, options};
}

using Outcomes = std::vector<std::string>;

TEST(Gather, AllGetTheMemoryInWhateverOrderTheyCome) {
  EXPECT_EQ(meet({rank(0), rank(1), rank(2)}), Outcomes(3, "on"));
  EXPECT_EQ(meet({rank(2), rank(1), rank(0)}), Outcomes(3, "on"));
}

TEST(Gather, WhoDoesNotFitIsNamedByRankZeroAndAllEnd) {
  EXPECT_EQ(meet({rank(0), rank(1), rank(2, "other")}),
            (Outcomes{"error: rank 2 and rank 0 were started with different plans", "off", "off"}));
  EXPECT_EQ(meet({rank(0), rank(1, "p", "other"), rank(2)}),
            (Outcomes{"error: rank 1 and rank 0 were started with different programs of the same plan", "off", "off"}));
  EXPECT_EQ(meet({rank(0), rank(1, "p", "q", "other"), rank(2)}),
            (Outcomes{"error: rank 1 and rank 0 were started with different options", "off", "off"}));
  EXPECT_EQ(meet({rank(0), rank(1), rank(1)}), (Outcomes{"error: there are two processes with rank 1", "off", "off"}));
  EXPECT_EQ(meet({rank(0), rank(0), rank(1)}), (Outcomes{"error: there are two processes with rank 0", "off", "off"}));
  EXPECT_EQ(meet({rank(0), {1, 4, "p", "q", "o"}}),
            (Outcomes{"error: rank 1 and rank 0 were started with different world sizes", "off"}));
}

TEST(Gather, NobodyWaitsLongerThanTold) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(meet({rank(0), rank(2)}, 0.3), (Outcomes{"error: rank 1 did not join within 0.3 s (--timeout)", "off"}));
  EXPECT_EQ(meet({rank(0)}, 0.3), (Outcomes{"error: ranks 1, 2 did not join within 0.3 s (--timeout)"}));
  EXPECT_EQ(meet({rank(1)}, 0.3),
            (Outcomes{"error: rank 0 did not join within 0.3 s (--timeout): all ranks must run on one host "
                      "and be started by torchrun directly"}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
}

TEST(Gather, ASignalEndsTheWaiting) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  std::thread interrupts([&] {
    usleep(100000);
    signal = 15;
  });
  Introduction self = rank(1);
  try {
    joinRankZero(launch, self, {0, signal});
    ADD_FAILURE();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(problem.what(), "error: stopped by signal 15 before all ranks had joined");
  }
  interrupts.join();
}

TEST(Gather, OneProcessSpeaksForAll) {
  std::optional<OwnedFile> first = claimVoice("a job");
  EXPECT_TRUE(first);
  EXPECT_FALSE(claimVoice("a job"));
  EXPECT_TRUE(claimVoice("another"));
  first.reset();
  EXPECT_TRUE(claimVoice("a job"));
}

TEST(Gather, WithoutDescriptorsTheReasonIsSaid) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  Descriptors none(0);
  EXPECT_TRUE(claimVoice(launch.job)); // to say it
  for (const auto &meet : std::vector<std::function<void()>>{[&] { gatherRanks(launch, rank(0), {1, signal}, -1); },
                                                             [&] { joinRankZero(launch, rank(1), {1, signal}); }})
    try {
      meet();
      ADD_FAILURE();
    } catch (const Rejected &problem) {
      EXPECT_STREQ(problem.what(), "error: cannot connect the processes of the job: Too many open files");
    }
}

/// Where rank 0 of a job listens; the name is the one of Gather.cpp.
OwnedFile listenAs(const Launch &launch) {
  Checksum digest;
  digest.addText(launch.job);
  std::string text = "xlc-" + std::to_string(getuid()) + "-" + digest.digits() + "-gather";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  auto length = (socklen_t)(offsetof(sockaddr_un, sun_path) + 1 + text.copy(address.sun_path + 1, 100));
  OwnedFile made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(bind(made.get(), (const sockaddr *)&address, length), 0);
  EXPECT_EQ(listen(made.get(), 5), 0);
  return made;
}

/// As rank 0 does that has no descriptors.
TEST(Gather, ARankWhoseConnectionEndsWithoutAnAnswerConnectsAgain) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  OwnedFile door = listenAs(launch);
  std::jthread zero([&] {
    for (int i = 0; i < 3; ++i)
      OwnedFile(accept(door.get(), nullptr, nullptr));
    OwnedFile line(accept(door.get(), nullptr, nullptr));
    struct {
      char begin[8] = "xlc 1";
      uint32_t isOn = 0;
    } answer;
    EXPECT_EQ(send(line.get(), &answer, sizeof answer, 0), (ssize_t)sizeof answer);
    usleep(100000);
  });
  EXPECT_FALSE(joinRankZero(launch, rank(1), {20, signal}));
}

TEST(Gather, ARankZeroThatHasGoneIsNotAwaited) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  OwnedFile door = listenAs(launch);
  std::jthread zero([&] {
    OwnedFile line(accept(door.get(), nullptr, nullptr));
    door.reset();
  });
  try {
    joinRankZero(launch, rank(1), {20, signal});
    ADD_FAILURE();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(problem.what(), "error: rank 0 ended before all ranks had joined");
  }
}

/// Rank 0 does not look again and again at one that it cannot take.
TEST(Gather, ARankThatCannotBeTakenForWantOfADescriptorEndsTheMeeting) {
  Launch launch = makeLaunch();
  std::atomic<int> signal = 0;
  std::string outcome;
  std::optional<Descriptors> few;
  std::thread zero([&] {
    try {
      gatherRanks(launch, rank(0), {20, signal}, -1);
    } catch (const Rejected &problem) {
      outcome = problem.what();
    }
  });
  std::thread other([&] {
    usleep(100000); // until rank 0 listens
    few.emplace(1); // its own
    EXPECT_THROW(joinRankZero(launch, rank(1), {20, signal}), Rejected);
  });
  other.join(), zero.join();
  EXPECT_EQ(outcome, "error: rank 0 cannot accept the connections of 3 ranks: Too many open files (ulimit -n)");
}

} // namespace
