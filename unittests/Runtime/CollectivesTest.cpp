// Collectives on every group of 1 to 8 ranks, for all small counts: results, order of summation, bytes counted.
#include "Core/Collectives.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace xlc::runtime;
namespace plan = xlc::plan;
using xlc::plan::Element;
using xlc::plan::Group;
using xlc::plan::Place;

namespace {

/// A job of `ranks` arenas of floats, each element of rank r at first r + 1 + 100 * index.
class Job {
public:
  Job(uint32_t ranks, uint32_t shards, int threads = 1)
      : ranks(ranks), shards(shards), threads(threads), collectives(ranks, shards, 50, stop), memory(ranks),
        moved(ranks) {
    for (uint32_t r = 0; r < ranks; ++r) {
      for (int i = 0; i < size; ++i)
        memory[r].push_back(first(r, i));
      collectives.arenas[r] = (char *)memory[r].data();
    }
  }
  static float first(uint32_t rank, int i) { return (float)(rank + 1 + 100 * i); }

  template <class Action> void run(const Action &action) {
    std::vector<std::thread> all;
    for (uint32_t r = 0; r < ranks; ++r)
      all.emplace_back([&, r] {
        Team team(threads, 50, [] {});
        collectives.run(action, (int)r, team, moved[r]);
      });
    for (std::thread &thread : all)
      thread.join();
  }

  static constexpr int size = 1200;
  uint32_t ranks, shards;
  int threads;
  StopSignal stop;
  Collectives collectives;
  std::vector<std::vector<float>> memory;
  std::vector<MovedBytes> moved;
};

/// Ranks of the group of `rank`.
std::vector<uint32_t> membersOf(Group group, uint32_t rank, uint32_t ranks, uint32_t shards) {
  std::vector<uint32_t> members;
  for (uint32_t r = 0; r < ranks; ++r)
    if (group == Group::All || (group == Group::Shards ? r / shards == rank / shards : r % shards == rank % shards))
      members.push_back(r);
  return members;
}

template <class Body> void forEachGroup(Body body) {
  for (uint32_t ranks = 1; ranks <= 8; ++ranks)
    for (uint32_t shards = 1; shards <= ranks; ++shards)
      if (ranks % shards == 0)
        for (Group group : {Group::All, Group::Shards, Group::Replicas})
          body(ranks, shards, group);
}

TEST(Collectives, AllReduceLeavesTheSumInRankOrderOnEveryRank) {
  forEachGroup([](uint32_t ranks, uint32_t shards, Group group) {
    for (int count : {1, 2, 15, 16, 17, 100, 1000}) {
      Job job(ranks, shards);
      plan::AllReduceT action;
      action.group = group, action.count = count, action.element = Element::F32;
      action.place = std::make_unique<Place>(8, 0, 0);
      job.run(action);
      uint64_t read = 0;
      for (uint32_t r = 0; r < ranks; ++r) {
        auto members = membersOf(group, r, ranks, shards);
        for (int i = 0; i < Job::size; ++i) {
          float expected = Job::first(r, i);
          if (i >= 2 && i < 2 + count) {
            expected = 0;
            for (uint32_t m : members)
              expected += Job::first(m, i);
          }
          ASSERT_EQ(job.memory[r][i], expected)
              << ranks << "/" << shards << " count " << count << " rank " << r << " at " << i;
        }
        read += job.moved[r].allReduce;
      }
      uint64_t n = membersOf(group, 0, ranks, shards).size();
      EXPECT_EQ(read, ranks / n * 2 * (n - 1) * count * 4);
    }
  });
}

TEST(Collectives, ReduceScatterAndAllGatherAreInPlaceAndCountWhatTheyRead) {
  forEachGroup([](uint32_t ranks, uint32_t shards, Group group) {
    if (group == Group::All && shards != ranks)
      return; // a place knows the index in the shards group only
    int64_t stride = group == Group::Replicas ? 0 : 1;
    for (int count : {1, 3, 16, 120}) {
      Job job(ranks, shards);
      auto n = membersOf(group, 0, ranks, shards).size();
      plan::ReduceScatterT scatter;
      scatter.group = group, scatter.count = count, scatter.element = Element::F32;
      scatter.src = std::make_unique<Place>(0, 0, 0);
      scatter.dst = std::make_unique<Place>(stride ? 0 : 4000, stride * count * 4, 0);
      scatter.accumulate = stride == 0;
      job.run(scatter);
      for (uint32_t r = 0; r < ranks; ++r) {
        auto members = membersOf(group, r, ranks, shards);
        int index = (int)(std::find(members.begin(), members.end(), r) - members.begin());
        for (int i = 0; i < count; ++i) {
          float expected = 0;
          for (uint32_t m : members)
            expected += Job::first(m, index * count + i);
          float was = stride ? 0 : Job::first(r, 1000 + i);
          ASSERT_EQ(job.memory[r][stride ? index * count + i : 1000 + i], was + expected);
        }
        EXPECT_EQ(job.moved[r].reduceScatter, (n - 1) * count * 4);
      }
      if (!stride)
        continue;
      plan::AllGatherT gather;
      gather.group = group, gather.count = count, gather.element = Element::F32;
      gather.src = std::make_unique<Place>(0, count * 4, 0), gather.dst = std::make_unique<Place>(0, 0, 0);
      job.run(gather);
      for (uint32_t r = 0; r < ranks; ++r) {
        for (size_t i = 0; i < n * count; ++i) {
          float expected = 0;
          for (uint32_t m : membersOf(group, r, ranks, shards))
            expected += Job::first(m, (int)i);
          ASSERT_EQ(job.memory[r][i], expected);
        }
        EXPECT_EQ(job.moved[r].allGather, (n - 1) * count * 4);
      }
    }
  });
}

TEST(Collectives, ReduceScatterAndAllReduceGiveTheSameBits) {
  constexpr int count = 250, ranks = 4;
  Job reduced(ranks, ranks, 3), scattered(ranks, ranks, 2);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < Job::size; ++i)
      reduced.memory[r][i] = scattered.memory[r][i] = 1.0f / (float)(3 + r * 7 + i);
  plan::AllReduceT reduce;
  reduce.count = ranks * count, reduce.place = std::make_unique<Place>(0, 0, 0);
  reduced.run(reduce);
  plan::ReduceScatterT scatter;
  scatter.count = count, scatter.src = std::make_unique<Place>(0, 0, 0),
  scatter.dst = std::make_unique<Place>(0, count * 4, 0);
  scattered.run(scatter);
  for (int r = 0; r < ranks; ++r)
    EXPECT_EQ(0, std::memcmp(&reduced.memory[0][r * count], &scattered.memory[r][r * count], count * 4));
}

TEST(Collectives, ARankThatStopsFreesTheOthers) {
  StopSignal stop;
  Collectives collectives(2, 2, 50, stop);
  bool stopped = false;
  std::thread waiting([&] {
    try {
      collectives.meet();
    } catch (const Stopped &) {
      stopped = true;
    }
  });
  stop.raise(Exit::RankFailed, "gone");
  waiting.join();
  EXPECT_TRUE(stopped);
}

} // namespace
