// Connections to a star from outside its ranks, and ranks that send invalid frames.
#include "Limits.h"
#include "TcpPeers.h"

#include "Fabric/Waiting.h"

#include <fstream>
#include <memory>

using namespace xlc::runtime;

namespace {

class Strangers : public StarTest {
protected:
  /// The first failure that a star reports. The star may report more of them after the test has read it.
  std::string failureOf(tcp::Star &star) {
    struct Report {
      std::atomic<uint32_t> failed{0};
      std::string said;
    };
    auto report = std::make_shared<Report>();
    star.listen({[](int, uint32_t, std::span<const char>) {}, [] {},
                 [report](const std::string &why) {
                   if (report->failed == 0)
                     report->said = why;
                   ++report->failed;
                 }});
    await(report->failed);
    return report->said;
  }
};

uint64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * (uint64_t)getpagesize();
}

/// Messages of 100 MiB, until they are not taken any more or there were so many.
void flood(tcp::Line line, int rank, int to, int count) {
  std::vector<char> bytes(100 << 20);
  for (int i = 0; i < count && line.isOpen(); ++i) {
    line.enqueue(tcp::Frame(tcp::Kind::Message, rank, to, 20000, bytes));
    for (int turn = 0; turn < 2000 && line.isOpen() && !line.leaving().empty(); ++turn) {
      line.send(), line.receive(); // which notices that it has ended
      std::this_thread::sleep_for(1ms);
    }
  }
}

/// What is no rank of the job does not keep others from coming, nor does who says nothing.
TEST_F(Strangers, StrangersAreLeftOut) {
  tcp::Star first(launchOf(0, 2, port));
  auto connectTo = [&] {
    int made = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET, to.sin_port = htons(port + 1), to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (connect(made, (const sockaddr *)&to, sizeof to) != 0)
      std::this_thread::sleep_for(1ms);
    return made;
  };
  int silent = connectTo(), loud = connectTo();
  const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a browser\r\n\r\n";
  EXPECT_EQ(write(loud, text, sizeof text), (ssize_t)sizeof text);
  char answer;
  EXPECT_LE(read(loud, &answer, 1), 0);
  tcp::Star second(launchOf(1, 2, port));
  EXPECT_TRUE(first.waitForStart(10s) && second.waitForStart(10s));
  std::jthread other([&] { second.finish(); });
  first.finish();
  close(silent), close(loud);
}

TEST_F(Strangers, WhoWasToldAnotherSecretStaysOut) {
  const std::string refused = "rank 1 was refused: its XLC_JOB_SECRET differs from that of rank 0; the text must be "
                              "the same on all hosts";
  for (const char *other : {"", "another secret"}) {
    tcp::Star first(launchOf(0, 2, port, "a secret")), second(launchOf(1, 2, port, other));
    EXPECT_EQ(findProblem(second), "error: " + refused);
    EXPECT_FALSE(first.waitForStart(50ms));
    EXPECT_EQ(first.describeAbsence(), "rank 1 is missing; " + refused);
  }
}

/// A rank does not believe a rank 0 that does not know the secret.
TEST_F(Strangers, ARankZeroThatWasToldAnotherSecretIsLeft) {
  tcp::Listening door = tcp::listenAt("localhost", port + 1);
  tcp::Star star(launchOf(1, 2, port, "a secret"));
  tcp::Line zero = letIn(door, launchOf(0, 2, port, "another secret"));
  zero.enqueue(tcp::Frame(tcp::Kind::Start, 0, 1, 0, {}));
  zero.send();
  EXPECT_EQ(
      findProblem(star),
      "error: rank 0 at localhost:" + std::to_string(port + 1) +
          " was rejected: its XLC_JOB_SECRET differs from that of rank 1; the text must be the same on all hosts");
}

/// Nor does one believe a rank 0 that shows nothing at all.
TEST_F(Strangers, ARankZeroThatShowsNothingDoesNotBegin) {
  tcp::Listening door = tcp::listenAt("localhost", port + 1);
  tcp::Star star(launchOf(1, 2, port, "a secret"));
  tcp::Line zero = acceptOne(door);
  zero.enqueue(tcp::Frame(tcp::Kind::Start, 0, 1, 0, {}));
  zero.send();
  EXPECT_FALSE(star.waitForStart(300ms));
}

/// Who has shown what a rank shows cannot fill the memory of another.
TEST_F(Strangers, MessagesThatNobodyWaitsForEndTheJob) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  uint64_t before = residentBytes();
  std::jthread other([&] { flood(std::move(line), 1, 0, 40); });
  EXPECT_EQ(failureOf(first), "rank 1 has sent 201 MiB of messages without a receiver; the limit is 128 MiB");
  EXPECT_LT(residentBytes(), before + (1ULL << 30));
}

/// What is long may be said by a rank alone: before its proof a guest has no more than that.
TEST_F(Strangers, AGuestSaysNothingLongBeforeItsProof) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line guest;
  for (int i = 0; i < 500 && !guest.isOpen(); ++i, std::this_thread::sleep_for(10ms))
    guest = tcp::Line(tcp::connectTo("localhost", port + 1).socket);
  guest.enqueue(tcp::Frame(tcp::Kind::Message, 1, 0, 7, std::vector<char>(64 << 20)));
  bool isTaken = false;
  for (int turn = 0; turn < 5000 && guest.isOpen() && !isTaken; ++turn, std::this_thread::sleep_for(1ms)) {
    guest.send();
    isTaken = guest.leaving().empty();
    guest.receive(); // which notices that it has ended
  }
  EXPECT_FALSE(isTaken);
  EXPECT_FALSE(guest.isOpen());
}

TEST_F(Strangers, GuestsWithLongMessagesArePutOffAndTakeNoMemory) {
  tcp::Star first(launchOf(0, 2, port));
  std::vector<char> bytes(1 << 20);
  uint64_t before = residentBytes(), sent = 0;
  for (int i = 0; i < 8; ++i) {
    OwnedFile guest;
    for (int turn = 0; turn < 500 && !guest; ++turn, std::this_thread::sleep_for(10ms))
      guest = tcp::connectTo("localhost", port + 1).socket;
    tcp::Header header = tcp::Frame(tcp::Kind::Gathered, 1, 0, 7, {}).header;
    header.bytes = 100 << 20;
    ::send(guest.get(), &header, sizeof header, MSG_NOSIGNAL);
    bool isOpen = true;
    for (int turn = 0; turn < 2000 && isOpen; ++turn) {
      ssize_t some = ::send(guest.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      sent += (uint64_t)std::max<ssize_t>(0, some);
      isOpen = some > 0 || errno == EAGAIN;
      if (some <= 0)
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_FALSE(isOpen);
  }
  EXPECT_LT(sent, 400ULL << 20);
  EXPECT_LT(residentBytes(), before + (64 << 20));
}

TEST_F(Strangers, NotesBeforeTheJobBeginsAreLimited) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  std::jthread other([&] {
    std::vector<char> bytes(mostNoteBytes);
    for (uint64_t sent = 0; line.isOpen() && sent < 2 * tcp::mostMessageBytes; sent += bytes.size()) {
      line.enqueue(tcp::Frame(tcp::Kind::Note, 1, 0, 0, bytes));
      for (int turn = 0; turn < 2000 && line.isOpen() && !line.leaving().empty(); ++turn)
        line.send(), line.receive(); // which notices that it has ended
    }
  });
  try {
    first.gather(std::vector<char>(1), doNothing);
    ADD_FAILURE();
  } catch (const NotStarted &problem) {
    EXPECT_STREQ(problem.what(), "error: rank 0, before the first step: rank 1 has sent 129 MiB of control messages "
                                 "before the job began; the limit is 128 MiB");
  }
}

TEST_F(Strangers, AFloodBeforeAllHaveMetEndsTheJob) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  std::jthread other([&] { flood(std::move(line), 1, 0, 3); });
  try {
    first.gather(std::vector<char>(1), doNothing);
    ADD_FAILURE();
  } catch (const NotStarted &problem) {
    EXPECT_STREQ(problem.what(), "error: rank 0, before the first step: rank 1 has sent 201 MiB of messages "
                                 "without a receiver; the limit is 128 MiB");
  }
}

TEST_F(Strangers, WhatIsForARankThatTakesNothingIsNotKept) {
  tcp::Star first(launchOf(0, 3, port));
  tcp::Line silent = come(launchOf(2, 3, port)), line = come(launchOf(1, 3, port));
  ASSERT_TRUE(first.waitForStart(10s));
  std::jthread other([&] { flood(std::move(line), 1, 2, 40); });
  EXPECT_EQ(failureOf(first), "rank 1 has sent 201 MiB that rank 2 has not read; the limit is 128 MiB");
}

TEST_F(Strangers, MemoryThatIsNotThereIsAFailureOfTheJob) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  tcp::Frame message(tcp::Kind::Message, 1, 0, 20000, std::vector<char>(100 << 20));
  std::jthread other([&] {
    line.enqueue(std::move(message));
    for (int turn = 0; turn < 5000 && line.isOpen(); ++turn, std::this_thread::sleep_for(1ms))
      line.send(), line.receive();
  });
  Limited memory(RLIMIT_AS, pages * (uint64_t)getpagesize() + (150 << 20)); // the message itself, and little more
  EXPECT_EQ(failureOf(first), "out of memory for the messages of other ranks");
}

TEST_F(Strangers, ANoteThatIsTooLongIsNone) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  line.enqueue(tcp::Frame(tcp::Kind::Note, 1, 0, 0, std::vector<char>(mostNoteBytes + 1)));
  line.send();
  EXPECT_EQ(failureOf(first), "the connection to rank 1 has ended");
}

TEST_F(Strangers, AMessageOfAnotherLengthIsNone) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  std::atomic<uint32_t> ended{0};
  char memory[8];
  Posting wanted{Posting::Way::Receive, 1, 7, {memory, sizeof memory}};
  first.post({&wanted, 1}, ended);
  line.enqueue(tcp::Frame(tcp::Kind::Message, 1, 0, 7, std::vector<char>(3)));
  line.send();
  EXPECT_EQ(failureOf(first), "rank 1 has sent 3 bytes, but 8 are expected");
}

TEST_F(Strangers, WhoWaitsForWhatARankIsMayEndTheWaiting) {
  tcp::Star first(launchOf(0, 2, port));
  tcp::Line line = come(launchOf(1, 2, port));
  ASSERT_TRUE(first.waitForStart(10s));
  auto begin = std::chrono::steady_clock::now();
  auto look = [&] {
    if (std::chrono::steady_clock::now() - begin > 300ms)
      throw Rejected("too long: " + first.describeAbsence());
  };
  try {
    first.gather(std::vector<char>(1), look);
    ADD_FAILURE();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(problem.what(), "too long: rank 1 connected, but sent nothing");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

} // namespace
