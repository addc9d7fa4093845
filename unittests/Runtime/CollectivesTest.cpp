// Collectives on every group of 1 to 8 ranks, for all small counts: results, order of summation, counted bytes. They
// run between ranks that share memory, and between ranks that exchange messages, whose bounce block is so small that
// sums are split into pieces.
#include "Cpu/CpuDevice.h"
#include "Fabric/MessageFabric.h"
#include "Fabric/SharedFabric.h"
#include "LoopWire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace xlc::runtime;
namespace plan = xlc::plan;
using xlc::plan::CollectiveKind;
using xlc::plan::Element;

namespace {

/// Ranks that differ in these (count, stride) digits; over several stages where these are named.
std::unique_ptr<plan::RankGroupT> makeGroup(std::vector<uint32_t> digits, std::vector<uint32_t> stages = {}) {
  auto group = std::make_unique<plan::RankGroupT>();
  group->digits = std::move(digits), group->stages = std::move(stages);
  return group;
}

enum Group : uint32_t { All, Shards, Replicas };

/// A plan that holds no more than ranks and the three groups.
Plan makeRanks(uint32_t ranks, uint32_t shards, uint32_t stages = 1) {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(stages, ranks, 1, shards);
  plan.rank_groups.push_back(makeGroup({ranks, 1}));
  plan.rank_groups.push_back(makeGroup({shards, 1}));
  plan.rank_groups.push_back(makeGroup({ranks / shards, shards}));
  return plan;
}

/// Each stage sums something, for which memory is provided before.
Plan addSums(Plan plan) {
  for (uint32_t stage = 0; stage < plan.mesh->pp(); ++stage) {
    auto step = std::make_unique<plan::StepT>();
    plan::ExchangeT sum;
    step->action.Set(std::move(sum));
    plan.programs.emplace_back(std::make_unique<plan::ProgramT>())->stage = stage;
    plan.programs.back()->steps.push_back(std::move(step));
  }
  return plan;
}

/// How ranks reach each other.
enum class Way { Memory, Messages };

/// The fabrics of all ranks; each process has one, and commons. Where memory is shared all are in one process.
struct Fabrics {
  Fabrics(const Plan &plan, Way way, uint64_t bounce) : office(rankCount(plan)) {
    for (int rank = 0; rank < (int)(way == Way::Memory ? 1 : rankCount(plan)); ++rank) {
      commons.push_back(std::make_unique<Commons>());
      wires.push_back(std::make_unique<LoopWire>(office, rank));
      if (way == Way::Memory)
        all.push_back(std::make_unique<SharedFabric>(plan, 50, *commons.back()));
      else
        all.push_back(std::make_unique<MessageFabric>(plan, *wires.back(), 50, *commons.back(), bounce));
      commons.back()->provide();
    }
  }
  Fabric &of(int rank) { return *all[all.size() == 1 ? 0 : (size_t)rank]; }

  PostOffice office;
  std::vector<std::unique_ptr<Commons>> commons;
  std::vector<std::unique_ptr<LoopWire>> wires;
  std::vector<std::unique_ptr<Fabric>> all;
};

/// A job of `ranks` arenas of floats, each element of rank r at first r + 1 + 100 * index.
class Job {
public:
  Job(Way way, uint32_t ranks, uint32_t shards, uint32_t threads = 1) : Job(way, makeRanks(ranks, shards), threads) {}
  Job(Way way, Plan made, uint32_t threads = 1)
      : plan(addSums(std::move(made))), ranks(rankCount(plan)), fabrics(plan, way, smallBounce), memory(ranks),
        moved(ranks) {
    plan.threads = threads;
    for (uint32_t r = 0; r < ranks; ++r)
      for (int i = 0; i < size; ++i)
        memory[r].push_back(first(r, i));
  }
  static float first(uint32_t rank, int i) { return (float)(rank + 1 + 100 * i); }

  /// Runs a collective from element `src` to element `dst` (plus the index times `stride`) of every rank's memory.
  void run(CollectiveKind kind, uint32_t group, uint64_t outer, uint64_t chunk, int src, int dst, int srcStride = 0,
           int dstStride = 0, bool accumulate = false) {
    std::vector<std::thread> all;
    for (uint32_t r = 0; r < ranks; ++r)
      if (takesPart(*plan.rank_groups[group], r / stageRanks(plan)))
        all.emplace_back([&, r] {
          CpuDevice device({plan, nullptr, 50});
          int index = (int)indexIn(*plan.rank_groups[group], plan, (int)r);
          Exchange exchange{kind,
                            group,
                            outer,
                            chunk,
                            Element::F32,
                            (const char *)&memory[r][src + index * srcStride],
                            (char *)&memory[r][dst + index * dstStride],
                            accumulate,
                            rows,
                            ranksFirst};
          exchange.wire = wire.value_or(Element::F32);
          fabrics.of((int)r).exchange(exchange, {(int)r, device, moved[r]});
        });
    for (std::thread &thread : all)
      thread.join();
    EXPECT_TRUE(fabrics.office.isEmpty());
    EXPECT_LE(fabrics.office.mostWaiting, 2u); // whatever the bytes
  }
  MovedBytes movedBy(uint32_t rank) const { return moved[rank][plan::Axis::dp]; }

  static constexpr int size = 1200;
  static constexpr uint64_t smallBounce = 1 << 10;
  std::optional<Element> wire; ///< none: as they are
  uint64_t rows = 1;           ///< of an all_to_all, as `ranksFirst`
  bool ranksFirst = false;
  Plan plan;
  uint32_t ranks;
  Fabrics fabrics;
  std::vector<std::vector<float>> memory;
  std::vector<MovedByAxis> moved;
};

class Collectives : public testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, Collectives, testing::Values(Way::Memory, Way::Messages),
                         [](const auto &info) { return info.param == Way::Memory ? "Memory" : "Messages"; });

/// Ranks of the group of `rank`.
std::vector<uint32_t> membersOf(Group group, uint32_t rank, uint32_t ranks, uint32_t shards) {
  std::vector<uint32_t> members;
  for (uint32_t r = 0; r < ranks; ++r)
    if (group == All || (group == Shards ? r / shards == rank / shards : r % shards == rank % shards))
      members.push_back(r);
  return members;
}

template <class Body> void forEachGroup(Body body) {
  for (uint32_t ranks = 1; ranks <= 8; ++ranks)
    for (uint32_t shards = 1; shards <= ranks; ++shards)
      if (ranks % shards == 0)
        for (Group group : {All, Shards, Replicas})
          body(ranks, shards, group);
}

TEST_P(Collectives, AllReduceLeavesTheSumInRankOrderOnEveryRank) {
  forEachGroup([](uint32_t ranks, uint32_t shards, Group group) {
    for (int count : {1, 2, 15, 16, 17, 100, 1000}) {
      Job job(GetParam(), ranks, shards);
      job.run(CollectiveKind::all_reduce, group, 1, count, 2, 2);
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
        read += job.movedBy(r).allReduce;
      }
      uint64_t n = membersOf(group, 0, ranks, shards).size();
      EXPECT_EQ(read, ranks / n * 2 * (n - 1) * count * 4);
    }
  });
}

TEST_P(Collectives, ReduceScatterAndAllGatherAreInPlaceAndCountWhatTheyRead) {
  forEachGroup([](uint32_t ranks, uint32_t shards, Group group) {
    bool isInPlace = group != Replicas;
    for (int count : {1, 3, 16, 120}) {
      Job job(GetParam(), ranks, shards);
      auto n = membersOf(group, 0, ranks, shards).size();
      job.run(CollectiveKind::reduce_scatter, group, 1, count, 0, isInPlace ? 0 : 1000, 0, isInPlace ? count : 0,
              !isInPlace);
      for (uint32_t r = 0; r < ranks; ++r) {
        auto members = membersOf(group, r, ranks, shards);
        int index = (int)(std::find(members.begin(), members.end(), r) - members.begin());
        for (int i = 0; i < count; ++i) {
          float expected = 0;
          for (uint32_t m : members)
            expected += Job::first(m, index * count + i);
          float was = isInPlace ? 0 : Job::first(r, 1000 + i);
          ASSERT_EQ(job.memory[r][isInPlace ? index * count + i : 1000 + i], was + expected);
        }
        EXPECT_EQ(job.movedBy(r).reduceScatter, (n - 1) * count * 4);
      }
      if (!isInPlace)
        continue;
      job.run(CollectiveKind::all_gather, group, 1, count, 0, 0, count);
      for (uint32_t r = 0; r < ranks; ++r) {
        for (size_t i = 0; i < n * count; ++i) {
          float expected = 0;
          for (uint32_t m : membersOf(group, r, ranks, shards))
            expected += Job::first(m, (int)i);
          ASSERT_EQ(job.memory[r][i], expected);
        }
        EXPECT_EQ(job.movedBy(r).allGather, (n - 1) * count * 4);
      }
    }
  });
}

TEST_P(Collectives, ReduceScatterAndAllReduceGiveTheSameBits) {
  constexpr int count = 250, ranks = 4;
  Job reduced(GetParam(), ranks, ranks, 3), scattered(GetParam(), ranks, ranks, 2);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < Job::size; ++i)
      reduced.memory[r][i] = scattered.memory[r][i] = 1.0f / (float)(3 + r * 7 + i);
  reduced.run(CollectiveKind::all_reduce, All, 1, ranks * count, 0, 0);
  scattered.run(CollectiveKind::reduce_scatter, All, 1, count, 0, 0, 0, count);
  for (int r = 0; r < ranks; ++r)
    EXPECT_EQ(0, std::memcmp(&reduced.memory[0][r * count], &scattered.memory[r][r * count], count * 4));
}

// src [outer, chunk] of rank i is run i of [outer, ranks, chunk], and back.
TEST_P(Collectives, RunsAreGatheredAndScatteredWithinEachOuterIndex) {
  for (uint32_t ranks : {1u, 2u, 3u, 4u})
    for (int outer : {1, 2, 5})
      for (int chunk : {1, 3, 16}) {
        Job job(GetParam(), ranks, ranks, 2);
        auto n = (int)ranks;
        job.run(CollectiveKind::all_gather, All, outer, chunk, 0, 400);
        for (uint32_t r = 0; r < ranks; ++r)
          for (int o = 0; o < outer; ++o)
            for (int i = 0; i < n; ++i)
              for (int c = 0; c < chunk; ++c)
                ASSERT_EQ(job.memory[r][400 + (o * n + i) * chunk + c], Job::first(i, o * chunk + c));
        EXPECT_EQ(job.movedBy(0).allGather, (ranks - 1) * outer * chunk * 4);
        job.run(CollectiveKind::reduce_scatter, All, outer, chunk, 400, 800);
        for (uint32_t r = 0; r < ranks; ++r)
          for (int k = 0; k < outer * chunk; ++k)
            ASSERT_EQ(job.memory[r][800 + k], (float)n * Job::first(r, k));
        EXPECT_EQ(job.movedBy(0).reduceScatter, (ranks - 1) * outer * chunk * 4);
      }
}

// src [outer, rows, ranks, chunk] becomes [outer, ranks, rows, chunk], the ranks being first those who get a chunk,
// then those who sent it; and back.
TEST_P(Collectives, AllToAllTurnsOneSplitIntoAnotherAndBack) {
  for (int n : {1, 2, 3, 4})
    for (int outer : {1, 2, 3})
      for (int rows : {1, 2, 5})
        for (int chunk : {1, 4}) {
          Job job(GetParam(), n, n, 2);
          job.rows = rows;
          job.run(CollectiveKind::all_to_all, All, outer, chunk, 0, 400);
          for (int r = 0; r < n; ++r)
            for (int o = 0; o < outer; ++o)
              for (int peer = 0; peer < n; ++peer)
                for (int row = 0; row < rows; ++row)
                  for (int c = 0; c < chunk; ++c)
                    ASSERT_EQ(job.memory[r][400 + ((o * n + peer) * rows + row) * chunk + c],
                              Job::first(peer, ((o * rows + row) * n + r) * chunk + c));
          EXPECT_EQ(job.movedBy(n - 1).allToAll, (n - 1) * outer * rows * chunk * 4);
          job.ranksFirst = true;
          job.run(CollectiveKind::all_to_all, All, outer, chunk, 400, 800);
          for (int r = 0; r < n; ++r)
            for (int i = 0; i < outer * rows * n * chunk; ++i)
              ASSERT_EQ(job.memory[r][800 + i], Job::first(r, i));
        }
}

TEST_P(Collectives, TheLargestIsThatOfAllRanksAndNotANumberStays) {
  Job job(GetParam(), 3, 3);
  job.memory[1][4] = 1e6f, job.memory[2][5] = NAN, job.memory[0][6] = NAN;
  job.run(CollectiveKind::all_reduce_max, All, 2, 5, 0, 100);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(job.memory[r][100], Job::first(2, 0));
    EXPECT_EQ(job.memory[r][104], 1e6f);
    EXPECT_TRUE(std::isnan(job.memory[r][105]));
    EXPECT_TRUE(std::isnan(job.memory[r][106]));
    EXPECT_EQ(job.memory[r][4], r == 1 ? 1e6f : Job::first(r, 4)); // not in place
  }
}

// Two stages of 2 x 2 ranks: the first dp rank of stages 0 and 2 is one group, whatever each calls its memory.
TEST_P(Collectives, RanksOfSeveralStagesAreOneGroup) {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(3, 2, 2, 2);
  plan.rank_groups.push_back(makeGroup({2, 2}, {0, 2}));
  plan.rank_groups[0]->axis = plan::Axis::world;
  Job job(GetParam(), std::move(plan));
  job.run(CollectiveKind::all_reduce, 0, 1, 20, 0, 0);
  for (uint32_t r = 0; r < 12; ++r) {
    bool takesPart = r < 4 || r >= 8;
    uint32_t tp = r % 2;
    float sum = Job::first(tp, 7) + Job::first(2 + tp, 7) + Job::first(8 + tp, 7) + Job::first(10 + tp, 7);
    EXPECT_EQ(job.memory[r][7], takesPart ? sum : Job::first(r, 7)) << r;
    EXPECT_EQ(job.moved[r][plan::Axis::world].allReduce > 0, takesPart);
  }
}

// Sums of floats that cross in sixteen bits: rounded before, and after.
TEST_P(Collectives, WhatCrossesRoundedHasTheSameBitsInBothWays) {
  for (Element wire : {Element::BF16, Element::F16})
    for (auto kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter})
      for (uint64_t outer : {1, 3})
        for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
          Job here(GetParam(), ranks, ranks, 2), reference(Way::Memory, ranks, ranks);
          for (Job *job : {&here, &reference}) {
            for (uint32_t r = 0; r < ranks; ++r)
              for (int i = 0; i < Job::size; ++i)
                job->memory[r][i] = std::sin((float)(1 + i + 7 * r)) / (float)(1 + i % 13);
            job->wire = wire;
            job->run(kind, All, outer, 75, 0, 950, 0, 0, kind == CollectiveKind::reduce_scatter);
            if (kind == CollectiveKind::all_reduce)
              job->run(kind, All, outer, 75, 0, 0); // in place
          }
          for (uint32_t r = 0; r < ranks; ++r) {
            EXPECT_EQ(0, std::memcmp(here.memory[r].data(), reference.memory[r].data(), Job::size * sizeof(float)));
            EXPECT_EQ(here.moved[r].total(), reference.moved[r].total());
          }
        }
}

// Two streams of a group gather, and each rank comes to them in another order.
TEST_P(Collectives, StreamsOfAGroupAreToldApart) {
  constexpr uint64_t count[] = {10, 20};
  constexpr plan::Stream streams[] = {plan::Stream::gather, plan::Stream::reduce};
  Plan plan = addSums(makeRanks(2, 2));
  Fabrics fabrics(plan, GetParam(), Job::smallBounce);
  std::vector<float> gathered[2][2];
  std::vector<std::thread> all;
  for (int rank : {0, 1})
    for (int stream : {0, 1})
      all.emplace_back([&, rank, stream] {
        if (rank == stream)
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        SerialMover mover;
        MovedByAxis moved;
        std::vector<float> own(count[stream], (float)(10 * rank + stream)), &to = gathered[rank][stream];
        to.resize(2 * own.size());
        Exchange exchange{CollectiveKind::all_gather, All, 1, own.size(), Element::F32, (const char *)own.data(),
                          (char *)to.data()};
        exchange.stream = streams[stream];
        fabrics.of(rank).exchange(exchange, {rank, mover, moved});
      });
  for (std::thread &thread : all)
    thread.join();
  for (int rank : {0, 1})
    for (int stream : {0, 1})
      for (uint64_t i = 0; i < 2 * count[stream]; ++i)
        EXPECT_EQ(gathered[rank][stream][i], (float)(10 * (i / count[stream]) + (uint64_t)stream));
}

TEST_P(Collectives, RanksThatMeetKnowTheLargestStepAndSignal) {
  Plan plan = addSums(makeRanks(3, 3));
  Fabrics fabrics(plan, GetParam(), Job::smallBounce);
  auto requestOf = [&](int rank) -> Request & {
    return fabrics.commons[fabrics.commons.size() == 1 ? 0 : rank]->request();
  };
  std::vector<std::thread> all;
  for (int rank = 0; rank < 3; ++rank)
    all.emplace_back([&, rank] {
      if (rank == 1)
        Request::raise(requestOf(rank).signal, 15), Request::raise(requestOf(rank).lastStep, 7),
            Request::raise(requestOf(rank).captureFailed, 1);
      fabrics.of(rank).meet(nullptr);
      EXPECT_EQ(requestOf(rank).lastStep, 7u);
      EXPECT_EQ(requestOf(rank).captureFailed, 1u);
      EXPECT_EQ(requestOf(rank).signal, 15u);
    });
  for (std::thread &thread : all)
    thread.join();
}

TEST_P(Collectives, ARankThatStopsFreesTheOthers) {
  Plan plan = addSums(makeRanks(2, 2));
  Fabrics fabrics(plan, GetParam(), Job::smallBounce);
  bool stopped = false;
  std::thread waiting([&] {
    try {
      fabrics.of(0).meet(nullptr);
    } catch (const Stopped &) {
      stopped = true;
    }
  });
  fabrics.commons[0]->stop().raise(Exit::RankFailed, "gone");
  waiting.join();
  EXPECT_TRUE(stopped);
}

} // namespace
