// Connections to a star, as tests create them: from ranks with stars of their own, and from others, which send
// arbitrary frames.
#ifndef XLC_UNITTESTS_RUNTIME_TCPPEERS_H
#define XLC_UNITTESTS_RUNTIME_TCPPEERS_H

#include "Failure.h"
#include "Tcp/Sockets.h"
#include "Tcp/Star.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

namespace xlc::runtime {

using namespace std::chrono_literals;

/// One whose next is free.
inline uint16_t findPort() {
  int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  EXPECT_EQ(bind(made, (const sockaddr *)&any, sizeof any), 0);
  EXPECT_EQ(getsockname(made, (sockaddr *)&any, &size), 0);
  close(made);
  return (uint16_t)(ntohs(any.sin_port) - 1);
}

inline Launch launchOf(int rank, int world, uint16_t port, const std::string &secret = "") {
  return {"torchrun",
          "WORLD_SIZE",
          (uint64_t)rank,
          (uint64_t)world,
          "several",
          1,
          0,
          "",
          nullptr,
          nullptr,
          {{"localhost", port, secret}}};
}

inline void doNothing() {}

inline void await(const std::atomic<uint32_t> &word) {
  for (int i = 0; word == 0 && i < 5000; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_GT(word, 0u);
}

/// What comes next on a line; nothing where it has ended.
inline std::optional<tcp::Frame> hear(tcp::Line &line) {
  for (int i = 0; i < 5000 && line.isOpen(); ++i, std::this_thread::sleep_for(1ms)) {
    line.send();
    if (line.receive())
      return line.received;
  }
  return std::nullopt;
}

inline tcp::Line acceptOne(const tcp::Listening &door) {
  for (int i = 0; i < 5000; ++i, std::this_thread::sleep_for(1ms))
    for (const OwnedFile &socket : door.sockets)
      if (OwnedFile line = tcp::acceptAt(socket))
        return tcp::Line(std::move(line));
  ADD_FAILURE() << "nobody has come";
  return {};
}

/// As rank 0 does, the one rank that comes.
inline tcp::Line letIn(const tcp::Listening &door, const Launch &launch) {
  tcp::Line line = acceptOne(door);
  tcp::Job job = tcp::jobOf(launch);
  std::optional<tcp::Frame> hello = hear(line);
  tcp::Encounter encounter{job.tag, hello ? hello->header.from : 0, {}, {}};
  EXPECT_TRUE(hello && hello->header.kind == tcp::Kind::Hello && hello->readTo(encounter.ofRank));
  line.enqueue(tcp::Frame(tcp::Kind::Challenge, 0, encounter.rank, 0, tcp::bytesOfValue(encounter.ofZero)));
  std::optional<tcp::Frame> proof = hear(line);
  EXPECT_TRUE(proof && proof->header.kind == tcp::Kind::Proof);
  tcp::Digest own = proofOf(tcp::Side::Zero, encounter, job.secret);
  line.enqueue(tcp::Frame(tcp::Kind::Welcome, 0, encounter.rank, 0, tcp::bytesOfValue(own)));
  line.send();
  return line;
}

/// As another rank does: comes to rank 0, and is let in.
inline tcp::Line come(const Launch &launch) {
  tcp::Job job = tcp::jobOf(launch);
  tcp::Line line;
  for (int i = 0; i < 500 && !line.isOpen(); ++i, std::this_thread::sleep_for(10ms))
    line = tcp::Line(tcp::connectTo(launch.meeting->host, launch.meeting->port + 1).socket);
  tcp::Encounter encounter{job.tag, (int)launch.rank, {}, {}};
  line.enqueue(makeHello(job, encounter.rank, encounter.ofRank));
  std::optional<tcp::Frame> challenge = hear(line);
  EXPECT_TRUE(challenge && challenge->readTo(encounter.ofZero));
  tcp::Digest own = proofOf(tcp::Side::Rank, encounter, job.secret);
  line.enqueue(tcp::Frame(tcp::Kind::Proof, encounter.rank, 0, 0, tcp::bytesOfValue(own)));
  std::optional<tcp::Frame> welcome = hear(line);
  EXPECT_TRUE(welcome && welcome->header.kind == tcp::Kind::Welcome);
  return line;
}

/// What keeps the job from starting, or nothing.
inline std::string findProblem(tcp::Star &star) {
  try {
    star.waitForStart(1s);
  } catch (const Rejected &problem) {
    return problem.what();
  }
  return "";
}

class StarTest : public testing::Test {
protected:
  /// Rank 0 comes last.
  void start(int world) {
    for (int rank = world - 1; rank >= 0; --rank)
      stars.insert(stars.begin(), std::make_unique<tcp::Star>(launchOf(rank, world, port)));
    for (auto &star : stars)
      ASSERT_TRUE(star->waitForStart(10s));
  }
  /// Each rank's work on a thread of its own.
  void onEach(const std::function<void(tcp::Star &)> &work) {
    std::vector<std::jthread> threads;
    for (auto &star : stars)
      threads.emplace_back([&] { work(*star); });
  }
  void finish() {
    onEach([](tcp::Star &star) { star.finish(); });
  }

  const uint16_t port = findPort();
  std::vector<std::unique_ptr<tcp::Star>> stars;
};

} // namespace xlc::runtime

#endif
