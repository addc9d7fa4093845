// Ranks that meet over connections to rank 0: in one process, each with a star of its own.
#include "TcpPeers.h"

#include <algorithm>

using namespace xlc::runtime;

namespace {

TEST_F(StarTest, AllKnowWhatEachGave) {
  start(3);
  onEach([](tcp::Star &star) {
    char own[] = {'a', (char)('0' + star.rank())};
    std::vector<char> all = star.gather(own, doNothing);
    EXPECT_EQ(std::string(all.begin(), all.end()), "a0a1a2");
  });
  finish();
}

TEST_F(StarTest, WhatIsGatheredIsOfOneSize) {
  start(2);
  onEach([](tcp::Star &star) {
    try {
      star.gather(std::vector<char>((size_t)star.rank() + 1), doNothing);
      ADD_FAILURE() << "rank " << star.rank();
    } catch (const Rejected &problem) {
      EXPECT_STREQ(problem.what(), "error: ranks run different programs");
    }
  });
  finish();
}

TEST_F(StarTest, NobodyWaitsToGatherWhatOneThatHasGoneGives) {
  start(3);
  std::jthread other([&] { EXPECT_THROW(stars[0]->gather(std::vector<char>(1), doNothing), Rejected); });
  stars[2].reset();
}

TEST_F(StarTest, RanksThatMeetKnowTheLargest) {
  start(4);
  onEach([](tcp::Star &star) {
    for (uint64_t turn = 1; turn < 50; ++turn) {
      std::atomic<uint32_t> met{0};
      uint64_t words[] = {(uint64_t)star.rank() + turn, turn * 10 - (uint64_t)star.rank()};
      star.meet(words, met);
      await(met);
      EXPECT_EQ(words[0], 3 + turn);
      EXPECT_EQ(words[1], turn * 10);
    }
  });
  finish();
}

/// Between others than rank 0, too; in the order in which they were sent, whoever comes first.
TEST_F(StarTest, MessagesComeToWhomTheyAreFor) {
  start(3);
  std::vector<char> large(3 << 20, 'x');
  onEach([&](tcp::Star &star) {
    constexpr uint32_t tag = 7;
    std::atomic<uint32_t> ended{0};
    char first[] = "first", second[] = "second";
    if (star.rank() == 2) {
      Posting sent[] = {{Posting::Way::Send, 1, tag, {first, 6}},
                        {Posting::Way::Send, 1, tag, {second, 7}},
                        {Posting::Way::Send, 0, tag, {large.data(), large.size()}}};
      star.post(sent, ended);
      await(ended);
      return;
    }
    std::vector<char> got(star.rank() == 0 ? large.size() : 6), next(7);
    std::vector<Posting> wanted = {{Posting::Way::Receive, 2, tag, {got.data(), got.size()}}};
    if (star.rank() == 1)
      wanted.push_back({Posting::Way::Receive, 2, tag, {next.data(), next.size()}});
    star.post(wanted, ended);
    await(ended);
    if (star.rank() == 0)
      EXPECT_EQ(got, large);
    else
      EXPECT_TRUE(std::string(got.data()) == "first" && std::string(next.data()) == "second");
  });
  finish();
}

TEST_F(StarTest, NotesAreHeardOnceThereIsAListener) {
  start(3);
  stars[1]->note(2, 5, std::span("hello", 5)); // over rank 0, which hears it not
  std::atomic<uint32_t> heard{0}, ticks{0};
  auto fail = [](const std::string &why) { ADD_FAILURE() << why; };
  stars[0]->listen({[](int, uint32_t, std::span<const char>) { ADD_FAILURE(); }, [&] { ++ticks; }, fail});
  stars[2]->listen({[&](int from, uint32_t kind, std::span<const char> bytes) {
                      EXPECT_EQ(from, 1);
                      EXPECT_EQ(kind, 5u);
                      EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "hello");
                      ++heard;
                    },
                    [] {}, fail});
  await(heard);
  await(ticks);
  EXPECT_TRUE(stars[1]->waitForNotes(1s));
  finish();
}

/// Of notes that only the latest counts of, one to each rank is on its way.
TEST_F(StarTest, LatestNotesToSeveralRanksAreHeard) {
  start(3);
  std::atomic<uint32_t> heard[3] = {};
  for (int rank : {0, 2})
    stars[(size_t)rank]->listen(
        {[&heard, rank](int, uint32_t, std::span<const char>) { ++heard[rank]; }, [] {}, [](const std::string &) {}});
  for (int rank : {0, 2})
    stars[1]->note(rank, 3, std::span("here", 4), Carrier::Behind::IsLeftOut);
  await(heard[0]);
  await(heard[2]);
  finish();
}

/// As one does that was stopped: its connections stay.
TEST_F(StarTest, ARankZeroThatSaysNothingIsMissed) {
  tcp::Listening door = tcp::listenAt("localhost", port + 1);
  tcp::Star star(launchOf(1, 2, port), 1s);
  tcp::Line zero = letIn(door, launchOf(0, 2, port));
  zero.enqueue(tcp::Frame(tcp::Kind::Start, 0, 1, 0, {}));
  zero.send();
  ASSERT_TRUE(star.waitForStart(5s));
  std::atomic<uint32_t> missed{0};
  star.listen({[](int, uint32_t, std::span<const char>) {}, [] {}, [&](const std::string &) { ++missed; }});
  await(missed);
}

/// Of a job that was stopped whole, and whose rank 0 goes on a little later than others.
TEST_F(StarTest, TimeInWhichARankDidNotRunIsNoSilence) {
  tcp::Listening door = tcp::listenAt("localhost", port + 1);
  tcp::Star star(launchOf(1, 2, port), 1s);
  tcp::Line zero = letIn(door, launchOf(0, 2, port));
  zero.enqueue(tcp::Frame(tcp::Kind::Start, 0, 1, 0, {}));
  zero.send();
  ASSERT_TRUE(star.waitForStart(5s));
  std::atomic<uint32_t> stopped{0}, missed{0};
  auto stop = [&] {
    if (stopped == 0)
      std::this_thread::sleep_for(1500ms); // on the thread of the star
    ++stopped;
  };
  star.listen({[](int, uint32_t, std::span<const char>) {}, stop, [&](const std::string &) { ++missed; }});
  await(stopped);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(missed, 0u);
  await(missed);
}

TEST_F(StarTest, WhoHasGoneIsMissed) {
  start(3);
  std::atomic<uint32_t> missed{0};
  stars[0]->listen({[](int, uint32_t, std::span<const char>) {}, [] {},
                    [&](const std::string &why) {
                      EXPECT_EQ(why, "the connection to rank 2 has ended");
                      ++missed;
                    }});
  stars[2].reset();
  await(missed);
}

TEST_F(StarTest, ARankComesOnce) {
  tcp::Star first(launchOf(0, 3, port)), second(launchOf(1, 3, port)), again(launchOf(1, 3, port));
  EXPECT_FALSE(second.waitForStart(500ms) || again.waitForStart(500ms));
  EXPECT_EQ(first.describeAbsence(), "rank 2 is missing; a second process with rank 1 was refused");
  std::string zero = "rank 0 at localhost:" + std::to_string(port + 1);
  std::string waits = zero + " accepted this rank, but has sent nothing since";
  std::string refused = zero + " refused rank 1: another process has this rank";
  std::string one = second.describeAbsence(), other = again.describeAbsence();
  EXPECT_TRUE((one == waits && other == refused) || (one == refused && other == waits)) << one << "; " << other;
}

/// As rank 0 does with one whose former connection it has not seen end.
TEST_F(StarTest, ARankThatIsRefusedAsASecondOneComesAgain) {
  tcp::Star first(launchOf(0, 3, port));
  auto early = std::make_unique<tcp::Star>(launchOf(1, 3, port));
  EXPECT_FALSE(early->waitForStart(300ms));
  tcp::Star second(launchOf(1, 3, port));
  EXPECT_FALSE(second.waitForStart(300ms));
  early.reset();
  tcp::Star third(launchOf(2, 3, port));
  EXPECT_TRUE(first.waitForStart(10s) && second.waitForStart(10s) && third.waitForStart(10s));
}

TEST_F(StarTest, ARankThatEndsHasNotMetTheOthers) {
  start(2);
  EXPECT_EQ(stars[1]->describeAbsence(),
            "rank 0 at localhost:" + std::to_string(port + 1) + " is connected, but sends nothing");
  try {
    stars[0]->gather(std::vector<char>(1), [&] { stars[0]->abandon(); });
    ADD_FAILURE();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(problem.what(), "error: this rank was stopped before all ranks had joined");
  }
}

TEST_F(StarTest, WhereRankZeroListensEverywhereASecretIsRecommended) {
  Launch launch = launchOf(0, 2, port);
  launch.meeting->host = "192.0.2.1"; // for documentation, of no host
  tcp::Star first(launch);
  std::string said;
  for (int i = 0; i < 5000 && said.empty(); ++i, std::this_thread::sleep_for(1ms))
    said = first.takeRemark();
  EXPECT_NE(said.find("of all addresses of this host"), std::string::npos) << said;
  EXPECT_NE(said.find("; set XLC_JOB_SECRET to keep other processes out"), std::string::npos) << said;
}

TEST_F(StarTest, ARankOfAnotherJobIsToldSo) {
  tcp::Star first(launchOf(0, 3, port)), second(launchOf(1, 2, port));
  EXPECT_FALSE(second.waitForStart(500ms));
  EXPECT_EQ(second.describeAbsence(), "rank 0 at localhost:" + std::to_string(port + 1) +
                                          " refused rank 1: it belongs to another job; all ranks of a job must have "
                                          "the same MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID "
                                          "and number of ranks");
  EXPECT_EQ(first.describeAbsence(), "ranks 1, 2 are missing; rank 1 of another job was refused");
}

TEST_F(StarTest, RanksThatWereToldOneSecretMeet) {
  tcp::Star first(launchOf(0, 2, port, "a secret")), second(launchOf(1, 2, port, "a secret"));
  EXPECT_TRUE(first.waitForStart(10s) && second.waitForStart(10s));
}

/// As rank 0 does with one for which it has no room.
TEST_F(StarTest, WhoIsPutOffBeforeTheStartComesAgain) {
  tcp::Listening door = tcp::listenAt("localhost", port + 1);
  tcp::Star star(launchOf(1, 2, port));
  for (int i = 0; i < 3; ++i)
    acceptOne(door).close();
  tcp::Line zero = letIn(door, launchOf(0, 2, port));
  zero.enqueue(tcp::Frame(tcp::Kind::Start, 0, 1, 0, {}));
  zero.send();
  EXPECT_TRUE(star.waitForStart(5s));
}

TEST_F(StarTest, WhyRankZeroIsMissingIsKnown) {
  tcp::Star star(launchOf(1, 2, port));
  EXPECT_FALSE(star.waitForStart(300ms));
  EXPECT_EQ(star.describeAbsence(), "rank 0 at localhost:" + std::to_string(port + 1) + ": Connection refused");
  EXPECT_EQ(star.takeRemark(), "");
}

TEST_F(StarTest, AHostWithoutAnAddressIsNoted) {
  for (int rank : {0, 1}) {
    Launch launch = launchOf(rank, 2, port);
    launch.meeting->host = "no.such.host.invalid";
    tcp::Star star(launch);
    std::string said;
    for (int i = 0; i < 500 && said.empty(); ++i, std::this_thread::sleep_for(10ms))
      said = star.takeRemark();
    EXPECT_TRUE(said.starts_with("note: rank ")) << said;
    EXPECT_NE(said.find("'no.such.host.invalid' (MASTER_ADDR)"), std::string::npos) << said;
    EXPECT_NE(said.find("cannot be resolved: "), std::string::npos) << said;
    EXPECT_EQ(star.takeRemark(), "");
  }
}

TEST_F(StarTest, APortThatIsTakenIsSaid) {
  tcp::Star first(launchOf(0, 2, port)), again(launchOf(0, 2, port));
  std::string said = findProblem(again) + findProblem(first);
  EXPECT_EQ(said, "error: rank 0 cannot listen on port " + std::to_string(port + 1) +
                      " (MASTER_PORT + 1): Address already in use");
}

/// One that was there already may come again, as long as others are missing.
TEST_F(StarTest, ARankThatGoesBeforeTheStartMayComeAgain) {
  tcp::Star first(launchOf(0, 3, port));
  { // comes, and is ended
    tcp::Star early(launchOf(1, 3, port));
    EXPECT_FALSE(early.waitForStart(300ms));
  }
  tcp::Star second(launchOf(1, 3, port)), third(launchOf(2, 3, port));
  EXPECT_TRUE(first.waitForStart(10s) && second.waitForStart(10s) && third.waitForStart(10s));
}

} // namespace
