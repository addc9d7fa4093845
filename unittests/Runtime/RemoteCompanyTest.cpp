// The validation of notes that a process receives from other hosts.
#include "Job/RemoteCompany.h"
#include "Job/Crew.h"
#include "Launch/Introduction.h"
#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;

namespace {

/// Rank 0 of two, or rank 1, whose other one says what a test likes.
class Told final : public Carrier {
public:
  explicit Told(int rank) : number(rank) {}
  int rank() const override { return number; }
  int size() const override { return 2; }
  uint64_t ranksOfHost() const override { return 1; }
  bool waitForStart(std::chrono::milliseconds) override { return true; }
  std::vector<char> gather(std::span<const char>, const std::function<void()> &) override { return {}; }
  void listen(Listener given) override { listener = std::move(given); }
  /// What is received are the answers, one after the other.
  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override {
    for (const Posting &message : messages)
      if (message.way == Posting::Way::Receive) {
        std::memcpy(message.memory.begin, answers.front().data(), answers.front().size());
        answers.pop_front();
      } else {
        sent.emplace_back(message.memory.begin, message.memory.bytes);
      }
    ++ended;
  }
  void meet(std::span<uint64_t>, std::atomic<uint32_t> &ended) override { ++ended; }
  void note(int, uint32_t, std::span<const char>, Behind) override {}
  bool waitForNotes(std::chrono::milliseconds) override { return true; }
  void abandon() override {}
  void finish() override {}

  const int number;
  Listener listener;
  std::deque<std::string> answers;
  std::vector<std::string> sent;
};

enum Kind : uint32_t { Failed, Said, Numbers };

template <class T> std::string bytesOfOne(const T &value) { return {(const char *)&value, sizeof value}; }

std::string failureNote(uint32_t exit, const std::string &text) {
  std::string note = bytesOfOne(exit) + text;
  note.resize(sizeof exit + 8192, text.empty() ? '\0' : 'x'); // without an end
  return note;
}

class RemoteCompanyTest : public testing::Test {
protected:
  explicit RemoteCompanyTest(int rank = 0) : carrier(rank), world(plan, linkedTarget(), {}, &carrier) {
    world.provide();
    company = std::make_unique<RemoteCompany>(world, carrier);
  }
  void hear(uint32_t kind, const std::string &bytes) { carrier.listener.hear(1 - carrier.rank(), kind, bytes); }

  Plan plan = makePlan(3);
  Told carrier;
  World world;
  std::unique_ptr<RemoteCompany> company;
};

/// Of a job that has failed 0 is none.
TEST(Failure, ACodeOfAnotherProcessIsAFailures) {
  for (uint64_t code : {0, 3, 5, 130, 255, 256, -1})
    EXPECT_EQ(failureOf(code), Exit::RankFailed) << code;
  for (Exit exit : {Exit::Rejected, Exit::Usage, Exit::NoCheckpoint, Exit::NonFinite, Exit::Internal})
    EXPECT_EQ(failureOf((uint64_t)exit), exit);
}

TEST_F(RemoteCompanyTest, AFailureWithoutAFailuresCodeIsOne) {
  hear(Failed, failureNote(0, "error: it is over"));
  ASSERT_TRUE(world.stop().isRaised());
  EXPECT_EQ(world.stop().code(), Exit::RankFailed);
  EXPECT_TRUE(world.stop().text().starts_with("error: it is over"));
}

TEST_F(RemoteCompanyTest, AFailureWithoutAWordIsSaid) {
  hear(Failed, failureNote(255, ""));
  EXPECT_EQ(world.stop().code(), Exit::RankFailed);
  EXPECT_EQ(world.stop().text(), "error: rank 0, before the first step: rank 1 ended the job without a message");
}

TEST_F(RemoteCompanyTest, ATextWithoutAnEndEndsWithItsMemory) {
  hear(Failed, failureNote(7, "error: no end"));
  EXPECT_EQ(world.stop().code(), Exit::NonFinite);
  EXPECT_EQ(world.stop().text().size(), 8191u);
  char text[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(boundedText(text), "abcd");
  text[2] = 0;
  EXPECT_EQ(boundedText(text), "ab");
}

/// Ranks that have them send them whole.
TEST_F(RemoteCompanyTest, NumbersOfAStepAreOfTheRankThatHasThem) {
  StepResult result{1, 2, 3, 0, 0, 0, 0, {}};
  hear(Numbers, bytesOfOne(result)); // of rank 1, and rank 0 has them
  EXPECT_EQ(world.board().shown, 0u);
}

/// Whatever ranks agree on, a process gets no signal but those that stop a program.
TEST_F(RemoteCompanyTest, ASignalOfAnotherRankStopsTheProgram) {
  for (auto [asked, expected] : {std::pair<uint64_t, int>{0, 0},
                                 {SIGINT, SIGINT},
                                 {SIGHUP, SIGHUP},
                                 {SIGSEGV, SIGTERM},
                                 {UINT64_MAX, SIGTERM}}) {
    std::atomic<int> signal{0};
    world.request().signal = asked;
    world.adoptSignal(signal);
    EXPECT_EQ(signal, expected) << asked;
  }
}

struct Question {
  uint64_t what, from, bytes;
};
enum What : uint64_t { Arena, Shared, End };

/// Rank 1, when all have met after the last step.
class AskedTest : public RemoteCompanyTest {
protected:
  AskedTest() : RemoteCompanyTest(1) {}
  /// What the rank ends with, or why not.
  std::string ask(const std::vector<Question> &questions) {
    for (const Question &question : questions)
      carrier.answers.push_back(bytesOfOne(question));
    try {
      return std::to_string((int)company->awaitEnd({1, *device, arena.data()}));
    } catch (const ExchangeFailure &problem) {
      carrier.answers.clear();
      return problem.what();
    }
  }

  const std::string arena = std::string(trainingProgramOf(plan, 1).arena, 'a');
  const std::unique_ptr<Device> device = linkedTarget().makeDevice({plan, nullptr, 1}, 1);
};

TEST_F(AskedTest, ARankGivesWhatItHas) {
  uint64_t all = arena.size(), shared = world.commonsBytes();
  EXPECT_EQ(ask({{Arena, 0, all}, {Arena, all, 0}, {Shared, shared - 8, 8}, {End, 0, 0}}), "0");
  ASSERT_EQ(carrier.sent.size(), 3u);
  EXPECT_EQ(carrier.sent[0], arena);
  EXPECT_EQ(carrier.sent[2].size(), 8u);
}

TEST_F(AskedTest, ARankGivesNothingElse) {
  uint64_t all = arena.size(), shared = world.commonsBytes(), much = UINT64_MAX;
  EXPECT_EQ(ask({{Arena, all, 1}}), "rank 0 requested 1 bytes at offset " + std::to_string(all) +
                                        " of an arena, which has " + std::to_string(all) + " bytes");
  for (Question wrong : {Question{Arena, 0, all + 1},
                         {Arena, much, 1},
                         {Arena, much - 7, 16},
                         {Arena, 8, much - 7},
                         {Shared, shared, 1},
                         {Shared, much, 8},
                         {Shared, 0, shared + 1}})
    EXPECT_TRUE(ask({wrong}).starts_with("rank 0 requested ")) << wrong.from << " " << wrong.bytes;
  EXPECT_EQ(ask({{(What)17, 0, 8}}), "rank 0 sent request 17, which is not 0 (arena), 1 (commons) or 2 (end)");
  EXPECT_TRUE(carrier.sent.empty());
}

TEST_F(AskedTest, TheJobsExitCodeIsOne) {
  EXPECT_EQ(ask({{End, (uint64_t)Exit::NonFinite, 0}}), "7");
  EXPECT_EQ(ask({{End, 255, 0}}), "5");
}

} // namespace
