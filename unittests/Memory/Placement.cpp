// The placer is judged by findOverlap, and findOverlap by brute force on every small case.
#include "xlc/Memory/Placement.h"

#include <fstream>
#include <random>
#include <sstream>
#include <tuple>

#include "gtest/gtest.h"

using namespace xlc;

namespace {

bool shareBytes(const Interval &a, int64_t offsetA, const Interval &b, int64_t offsetB) {
  bool inTime = a.first <= b.last && b.first <= a.last;
  return inTime && std::max(offsetA, offsetB) < std::min(offsetA + a.size, offsetB + b.size);
}

std::optional<std::pair<size_t, size_t>> findOverlapByBruteForce(llvm::ArrayRef<Interval> intervals,
                                                                 llvm::ArrayRef<int64_t> offsets) {
  for (size_t b = 0; b < intervals.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (shareBytes(intervals[a], offsets[a], intervals[b], offsets[b]))
        return std::pair(a, b);
  return std::nullopt;
}

/// Places, checks everything that must hold, and returns height over lower bound.
double placeAndCheck(const std::vector<Interval> &intervals) {
  Placement placement = placeIntervals(intervals);
  EXPECT_EQ(placement.offsets.size(), intervals.size());
  EXPECT_FALSE(findOverlap(intervals, placement.offsets));
  int64_t height = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_GE(placement.offsets[i], 0);
    EXPECT_EQ(placement.offsets[i] % intervals[i].alignment, 0);
    if (intervals[i].size > 0)
      height = std::max(height, placement.offsets[i] + intervals[i].size);
  }
  EXPECT_EQ(placement.height, height);
  EXPECT_GE(height, lowerBound(intervals));
  return lowerBound(intervals) ? double(height) / double(lowerBound(intervals)) : 1;
}

/// Calls `visit` with every list of `count` intervals of sizes 0 to 3 within `moments` moments.
template <typename Visit>
void forEachList(int count, int moments, std::vector<Interval> &intervals, const Visit &visit) {
  if (int(intervals.size()) == count)
    return visit();
  for (int64_t size = 0; size <= 3; ++size) {
    for (int first = 0; first < moments; ++first) {
      for (int last = first; last < moments; ++last) {
        intervals.push_back({size, first, last, /*alignment=*/1 + size % 2});
        forEachList(count, moments, intervals, visit);
        intervals.pop_back();
      }
    }
  }
}

TEST(FindOverlap, AgreesWithBruteForceOnEveryPair) {
  std::vector<Interval> intervals;
  forEachList(2, 3, intervals, [&] {
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t b = 0; b < 4; ++b)
        ASSERT_EQ(findOverlap(intervals, {a, b}).has_value(), findOverlapByBruteForce(intervals, {a, b}).has_value());
  });
}

TEST(FindOverlap, AgreesWithBruteForceOnRandomLists) {
  std::minstd_rand random(1);
  int found = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<Interval> intervals;
    std::vector<int64_t> offsets;
    for (size_t i = 0; i < 2 + random() % 6; ++i) {
      int first = int(random() % 6);
      intervals.push_back({int64_t(random() % 4), first, first + int(random() % 4), 1});
      offsets.push_back(random() % 12);
    }
    bool expected = findOverlapByBruteForce(intervals, offsets).has_value();
    ASSERT_EQ(findOverlap(intervals, offsets).has_value(), expected);
    found += expected;
  }
  EXPECT_GT(found, 500);
  EXPECT_LT(found, 4500);
}

TEST(FindOverlap, NamesThePair) {
  std::vector<Interval> intervals = {{10, 0, 5}, {10, 0, 2}, {10, 3, 4}};
  EXPECT_FALSE(findOverlap(intervals, {0, 10, 10}));
  EXPECT_EQ(findOverlap(intervals, {0, 10, 9}), std::pair(size_t(0), size_t(2)));
  intervals[1].last = 3; // a buffer is live at its last moment too
  EXPECT_EQ(findOverlap(intervals, {0, 10, 10}), std::pair(size_t(1), size_t(2)));
}

TEST(Placement, EverySmallCaseIsDisjoint) {
  for (int count = 0; count <= 3; ++count) {
    std::vector<Interval> intervals;
    forEachList(count, 3, intervals, [&] {
      Placement placement = placeIntervals(intervals, {.budget = 200});
      ASSERT_FALSE(findOverlapByBruteForce(intervals, placement.offsets));
      ASSERT_GE(placement.height, lowerBound(intervals));
    });
  }
}

TEST(Placement, WholeLifeBuffersStandAtTheBottomInOrder) {
  std::vector<Interval> intervals = {{100, 2, 3, 64}, {10, 0, 9, 64}, {200, 0, 9, 64}, {5, 0, 8, 64}};
  Placement placement = placeIntervals(intervals);
  EXPECT_EQ(placement.offsets[1], 0);
  EXPECT_EQ(placement.offsets[2], 64);
  EXPECT_GE(placement.offsets[0], 264);
  placeAndCheck(intervals);
}

TEST(Placement, AlignmentGapEndsTheSearch) {
  // One byte for ever, and one aligned buffer: the lower bound cannot be reached.
  EXPECT_EQ(placeIntervals({{1, 0, 1}, {64, 0, 0, 64}}).height, 128);
}

std::vector<Interval> readMinimalloc(const std::string &name) {
  std::ifstream file(std::string(XLC_TEST_INPUTS) + "/" + name);
  std::vector<Interval> intervals;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    int64_t id, lower, upper, size;
    char comma;
    fields >> id >> comma >> lower >> comma >> upper >> comma >> size;
    intervals.push_back({size, int(lower), int(upper) - 1});
  }
  return intervals;
}

TEST(Placement, HardInstances) {
  for (const char *name : {"A.1048576.csv", "K.1048576.csv"}) {
    std::vector<Interval> intervals = readMinimalloc(name);
    ASSERT_GT(intervals.size(), 100u);
    EXPECT_EQ(lowerBound(intervals), 1048576) << name;
    EXPECT_LE(placeAndCheck(intervals), 1.30) << name;
  }
}

/// Residuals from forward to backward, short-lived buffers beside them, and lifetimes that do not nest exactly.
std::vector<Interval> makeTraining(int layers, unsigned seed) {
  std::minstd_rand random(seed);
  auto size = [&] { return int64_t(1 + random() % 100000) * 64; };
  std::vector<Interval> intervals = {{size(), 0, 2 * layers + 8, 64}};
  for (int layer = 0; layer < layers; ++layer) {
    int backward = 2 * layers - layer;
    for (int residual = 0; residual < 2; ++residual)
      intervals.push_back({size(), layer, backward + residual, 64});
    intervals.push_back({size(), layer, layer + 1 + int(random() % 6), 64});
    intervals.push_back({size(), backward, backward + 1 + int(random() % 5), 64});
  }
  return intervals;
}

TEST(Placement, TrainingIsNearTheLowerBound) {
  for (unsigned seed = 1; seed <= 5; ++seed)
    for (int layers : {4, 25, 200})
      EXPECT_LE(placeAndCheck(makeTraining(layers, seed)), 1.02) << layers << " layers, seed " << seed;
}

/// A pipeline stage under 1f1b: residuals of `inFlight` micro-batches are there at once, those of each for some of its
/// forwards and backwards, between which the other micro-batches come and go.
std::vector<Interval> makeStage(int microBatches, int inFlight, int layers) {
  std::vector<Interval> intervals;
  const int64_t sizes[] = {112, 112, 64, 64, 64, 48, 16, 16, 32, 1};
  for (int micro = 0; micro < microBatches; ++micro)
    for (int layer = 0; layer < layers; ++layer) {
      int forward = (2 * micro * layers + layer) * 20;
      int backward = (2 * (micro + inFlight) * layers - layer) * 20;
      for (auto [i, size] : llvm::enumerate(sizes)) {
        intervals.push_back({size << 20, forward + int(i), backward + 20 - int(i), 64});
        intervals.push_back({128 << 20, backward + int(i), backward + int(i) + 2, 64});
      }
    }
  return intervals;
}

TEST(Placement, MicroBatchesInFlightTakeEachOthersPlace) {
  EXPECT_LE(placeAndCheck(makeStage(64, 16, 8)), 1.03);
  EXPECT_LE(placeAndCheck(makeStage(16, 8, 4)), 1.03);
}

/// A pipeline stage under 1f1b: what one action makes is listed with it. `inFlight` residuals of a micro-batch and
/// layer are there at once, some of them not as long, and a parameter and a gradient nearly all the time.
std::vector<Interval> makeSteadyStage(int microBatches, int inFlight, int layers, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::pair<int64_t, int>> residuals; // size, and how much earlier it is read
  for (int i = 0; i < 4 * layers; ++i)
    residuals.push_back({64 * int64_t(1 + random() % 100000), int(random() % (8 * layers))});
  int step = 4 * layers, end = (2 * (microBatches + inFlight)) * step;
  std::vector<Interval> intervals{{1000, 0, end, 64}, {1 << 20, 2 * inFlight * step, end - 1, 64}};
  for (int slot = 0; slot < microBatches + inFlight; ++slot)
    for (int layer = 0; layer < layers; ++layer) {
      int forward = 2 * slot * step + 4 * layer, backward = forward + step;
      int read = (2 * (slot + inFlight) + 2) * step - 4 * layer - 1; // backward goes from the last layer to the first
      for (int i = 0; i < 4; ++i) {
        auto [size, earlier] = residuals[4 * layer + i];
        if (slot < microBatches)
          intervals.push_back({size, forward + i, read - earlier, 64});
        if (slot >= inFlight)
          intervals.push_back({size / 2, backward + i, backward + i + 1, 1});
      }
    }
  auto order = [](const Interval &one) { return std::tuple(one.first / 4, one.first, one.size); };
  std::sort(intervals.begin(), intervals.end(), [&](auto &a, auto &b) { return order(a) < order(b); });
  return intervals;
}

/// With hundreds of micro-batches one cycle of the steady state serves all: it follows itself at the same offsets,
/// unless that leaves gaps.
TEST(Placement, SteadyStateIsPlacedOnce) {
  int numSteady = 0;
  for (int inFlight : {1, 2, 3, 5, 16}) {
    const int layers = 6, period = 8 * layers, cycle = period * (inFlight + 2);
    std::vector<Interval> intervals = makeSteadyStage(512, inFlight, layers, inFlight);
    EXPECT_LE(placeAndCheck(intervals), 1.09) << inFlight;
    std::vector<int64_t> offsets = placeIntervals(intervals).offsets;
    size_t middle = intervals.size() / 2, alike = 0;
    for (int i = 0; i < 4 * cycle; ++i)
      alike +=
          llvm::is_contained({offsets[middle + i + cycle], offsets[middle + i + cycle - period]}, offsets[middle + i]);
    numSteady += alike == size_t(4 * cycle);
  }
  EXPECT_GE(numSteady, 2);
}

TEST(Placement, SameInputGivesSameOffsets) {
  std::vector<Interval> intervals = makeTraining(50, 7);
  EXPECT_EQ(placeIntervals(intervals).offsets, placeIntervals(intervals).offsets);
}

/// In how little time: bench/growth.
TEST(Placement, TwentyThousandBuffersAreNearTheLowerBound) {
  std::vector<Interval> intervals = makeTraining(5000, 1);
  ASSERT_GT(intervals.size(), 20000u);
  EXPECT_LE(placeAndCheck(intervals), 1.02);
}

} // namespace
