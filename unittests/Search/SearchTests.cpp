// Which changes are proposed and which answers chosen, on plans that are a number each; and how little is asked for it.
#include "xlc/Search/Changes.h"
#include "xlc/Search/ChooseZero.h"
#include <gtest/gtest.h>

using namespace xlc;

namespace {

/// How often plans were asked for what.
struct Asked {
  int begun = 0, needs = 0;
};

/// A plan of `bytes`, of which a tenth is not in the bound; moves as many bytes as there are below 10,000.
class Number : public Trial {
public:
  Number(int64_t bytes, Asked &asked) : bytes(bytes), asked(asked) { ++asked.begun; }
  Quantity zeroTraffic() override { return 10000 - bytes; }
  Quantity traffic() override { return 10000 - bytes; }
  std::optional<int64_t> findLeast(int64_t) override { return bytes - bytes / 10; }
  std::optional<Need> findNeed(int64_t) override {
    ++asked.needs;
    return Need{bytes, true};
  }

private:
  int64_t bytes;
  Asked &asked;
};

struct SearchTest : testing::Test {
  Spec spec;
  Asked asked;
  std::string notes;

  /// The changes of a spec that takes 1000 bytes; others take what `bytesOf` says.
  std::vector<Change> find(const std::function<std::optional<int64_t>(const Spec &)> &bytesOf) {
    llvm::raw_string_ostream out(notes);
    return findChanges(spec, 1000, {[&] { return plannerOf(bytesOf); }, 1}, &out);
  }
  Planner plannerOf(const std::function<std::optional<int64_t>(const Spec &)> &bytesOf) {
    return [this, bytesOf](const Spec &other, std::string &obstacle) -> std::unique_ptr<Trial> {
      std::optional<int64_t> bytes = bytesOf(other);
      obstacle = "the model has no such dimension";
      return bytes ? std::make_unique<Number>(*bytes, asked) : nullptr;
    };
  }
};

// Every stage saves half of what the one before needs; the micro-batch is odd; twice the ranks change nothing.
TEST_F(SearchTest, ChangesThatFit) {
  spec.dp = 2, spec.deviceMemory = 300, spec.microBatch = 3;
  auto changes = find([](const Spec &other) { return 1000 >> other.zeroStage; });
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].what, "zero_stage: 2");
  EXPECT_EQ(changes[1].what, "zero_stage: 3");
  EXPECT_EQ(changes[1].total, 125);
}

TEST_F(SearchTest, TheNearestChangeWhereNoneFits) {
  spec.dp = 2, spec.deviceMemory = 100, spec.microBatch = 3;
  auto changes = find([](const Spec &other) { return 1000 >> other.zeroStage; });
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].what, "zero_stage: 3");
  EXPECT_FALSE(changes[0].fits);
}

// A halved micro-batch is accumulated: what is learned stays.
TEST_F(SearchTest, ChangesKeepTheGlobalBatch) {
  spec.deviceMemory = 600, spec.microBatch = 4;
  auto changes = find([](const Spec &other) { return 250 * other.microBatch; });
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].what, "batch: {global: 4, micro: 2}");
  EXPECT_EQ(changes[1].what, "dp: 2, batch: {global: 4, micro: 2}");
}

// Half of every matrix, half of the layers, fewer micro-batches in flight.
TEST_F(SearchTest, ChangesOfTheMesh) {
  spec.dp = 2, spec.deviceMemory = 500, spec.microBatch = 3, spec.pp = 2;
  spec.pipeline.schedule = "gpipe";
  auto changes =
      find([](const Spec &other) { return (other.pipeline.schedule == "1f1b" ? 900 : 1800) / (other.pp * other.tp); });
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].what, "tp: 2");
  EXPECT_EQ(changes[1].what, "pp: 4");
  EXPECT_EQ(changes[2].what, "pipeline: {schedule: 1f1b}");
}

// A spec that the model does not allow is no proposal, and is not passed over in silence.
TEST_F(SearchTest, ImpossibleChangesAreNotProposed) {
  spec.deviceMemory = 100;
  EXPECT_TRUE(find([](const Spec &) { return std::nullopt; }).empty());
  EXPECT_NE(notes.find("note: 'tp: 2' cannot be planned: the model has no such dimension"), std::string::npos);
}

// What comes nearest is known from the bounds, but for the one that is shown; its plan is the one that was kept.
TEST_F(SearchTest, OnlyTheNearestIsPlaced) {
  spec.dp = 2, spec.deviceMemory = 100, spec.microBatch = 3, spec.zero.reshardAfterForward = true;
  auto changes = find([](const Spec &other) { return 1000 >> other.zeroStage; });
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].total, 125);
  EXPECT_EQ(asked.needs, 1);
  EXPECT_EQ(asked.begun, 6); // three stages, twice the batch, tp and pp
}

// Where the answer that saves most takes far too much, the others are not asked, unless it comes nearest.
TEST_F(SearchTest, OtherAnswersAreNotAskedWhereTheSmallestIsHopeless) {
  spec.dp = 2, spec.zeroStage = 3, spec.globalBatch = 8;
  auto bytesOf = [](const Spec &other) { return other.zero.reduce == ZeroSpec::Reduce::Step ? 790 : 800; };
  for (int64_t memory : {100, 700}) { // bounds are 720 and more: of 700 it is not more than 5 %
    asked = {};
    Search search(plannerOf(bytesOf), memory, /*isAllExact=*/false, [](size_t, const std::string &) {});
    spec.deviceMemory = memory;
    search.add(0, spec);
    EXPECT_EQ(search.getCandidates().size(), memory == 100 ? 1u : 4u);
    EXPECT_EQ(search.getCandidates().front().need->bytes, 720);
    EXPECT_EQ(search.findNearest()->need->bytes, 790);
  }
}

// An answer that cannot be planned is told of once, though answers of the nearest change are begun again.
TEST_F(SearchTest, AnObstacleIsToldOnce) {
  spec.dp = 2, spec.zeroStage = 3, spec.globalBatch = 8, spec.deviceMemory = 100;
  int told = 0;
  auto bytesOf = [](const Spec &other) {
    return *other.zero.reshardAfterForward ? std::optional<int64_t>(800) : std::nullopt;
  };
  Search search(plannerOf(bytesOf), 100, /*isAllExact=*/false, [&](size_t, const std::string &) { ++told; });
  search.add(0, spec);
  EXPECT_TRUE(search.findNearest());
  EXPECT_EQ(told, 1);
}

// As many samples as before for each of twice as many ranks: no less than with half of them.
TEST_F(SearchTest, ALargerBatchIsNotTriedWhereTheSameDoesNotFit) {
  spec.deviceMemory = 100, spec.microBatch = 4;
  auto begun = [&](int64_t ofDoubled) {
    asked = {};
    find([&](const Spec &other) { return other.dp > 1 ? ofDoubled : 1000; });
    return asked.begun;
  };
  EXPECT_EQ(begun(100), begun(800) + 1);
}

// Several threads find what one finds, in the same order.
TEST_F(SearchTest, ChangesDoNotDependOnThreads) {
  spec.dp = 4, spec.deviceMemory = 600, spec.microBatch = 8, spec.dims = {{"a", 2}, {"b", 3}, {"c", 4}};
  auto bytesOf = [](const Spec &other) { return 1000 * other.microBatch * other.dims.at("c") / (32 * other.tp); };
  auto findWith = [&](unsigned threads) {
    Planners planners{[&]() -> Planner {
                        auto own = std::make_shared<Asked>();
                        return [&, own](const Spec &other, std::string &) {
                          return std::make_unique<Number>(bytesOf(other), *own);
                        };
                      },
                      threads};
    std::string found;
    for (const Change &change : findChanges(spec, 1000, planners, nullptr))
      found += change.what + " " + std::to_string(change.total) + "\n";
    return found;
  };
  std::string expected = findWith(1);
  EXPECT_EQ(llvm::StringRef(expected).count('\n'), 4u) << expected;
  for (int round = 0; round < 50; ++round)
    EXPECT_EQ(findWith(4), expected);
}

// Two bounds below the plan of each other: both are placed, and the smaller one wins.
TEST_F(SearchTest, ABoundIsNoPlan) {
  spec.deviceMemory = 100, spec.microBatch = 3;
  auto changes = find([](const Spec &other) { return other.tp > 1 ? 505 : other.pp > 1 ? 500 : 900; });
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].what, "pp: 2");
  EXPECT_EQ(changes[0].total, 500);
  EXPECT_EQ(asked.needs, 2);
}

// Each answer to what is open is planned in the order of its traffic, up to the first that fits.
TEST_F(SearchTest, TheAnswerThatFitsAndMovesLeast) {
  spec.dp = 2, spec.zeroStage = 3, spec.globalBatch = 8;
  auto bytesOf = [](const Spec &other) {
    return 100 + (other.zero.reduce == ZeroSpec::Reduce::Step ? 40 : 0) + (*other.zero.reshardAfterForward ? 0 : 20);
  };
  spec.deviceMemory = 120;
  ZeroChoice choice = chooseZero(spec, plannerOf(bytesOf), [](const std::string &) {});
  EXPECT_FALSE(choice.reducesPerStep);
  EXPECT_TRUE(choice.keepsGathered);
  ASSERT_EQ(choice.trials.size(), 4u);
  EXPECT_EQ(choice.trials[0].total, 160);
  EXPECT_EQ(choice.trials[2].total, 120);
  EXPECT_EQ(choice.trials[3].total, std::nullopt);
}

// Where nothing fits, the smallest.
TEST_F(SearchTest, TheSmallestAnswerWhereNoneFits) {
  spec.dp = 2, spec.zeroStage = 2, spec.globalBatch = 8, spec.deviceMemory = 10;
  ZeroChoice choice = chooseZero(
      spec, plannerOf([](const Spec &other) { return other.zero.reduce == ZeroSpec::Reduce::Step ? 140 : 100; }),
      [](const std::string &) {});
  EXPECT_FALSE(choice.reducesPerStep);
  EXPECT_EQ(choice.trials.size(), 2u);
}

} // namespace
