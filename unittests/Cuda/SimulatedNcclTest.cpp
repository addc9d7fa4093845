// The simulated NCCL by itself: ranks whose calls do not fit together end with a message that says what each is in, where those of the
// real one would wait for ever or read what is not there; and so ends what gives a communicator up wrongly.
#include "SimulatedRanks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <latch>
#include <thread>
#include <vector>

using namespace xlc::test;

namespace {

class SimulatedNccl : public testing::TestWithParam<const char *> {
protected:
  static void expectGood(const Body &body, int ranks = 2) {
    EXPECT_EXIT(runRanks(GetParam(), ranks, body), testing::ExitedWithCode(0), "");
  }
  static void expectComplaint(const char *words, const Body &body, int ranks = 2) {
    EXPECT_EXIT(runRanks(GetParam(), ranks, body), testing::ExitedWithCode(70), words);
  }
};

TEST_P(SimulatedNccl, WhatFitsTogether) {
  expectGood(
      [](Rank &rank) {
        rank.sum();
        expect(rank.read(rank.stream, 8) == std::vector<float>(8, 6));
        rank.sum(8, DataType::F32, Reduction::Max);
        expect(rank.read(rank.stream, 8) == std::vector<float>(8, 3));
        rank.gather(2);
        expect(rank.read(rank.stream, 6) == std::vector<float>({1, 1, 2, 2, 3, 3}));
        rank.nccl.group([&] {
          rank.send((rank.number + 1) % 3);
          rank.receive((rank.number + 2) % 3);
        });
        expect(rank.read(rank.stream, 8) == std::vector<float>(8, float((rank.number + 2) % 3 + 1)));
      },
      3);
}

/// To itself, too, in the order in which both are asked for.
TEST_P(SimulatedNccl, WhatARankSendsToItself) {
  expectGood([](Rank &rank) {
    rank.nccl.group([&] {
      for (int peer : {0, 1})
        for (uint64_t half : {0, 4}) {
          rank.nccl.send(rank.place(half), 4, DataType::F32, peer, rank.all, rank.stream.get());
          rank.nccl.receive(rank.place(Rank::count + 8 * (uint64_t)peer + half), 4, DataType::F32, peer, rank.all,
                            rank.stream.get());
        }
    });
    std::vector<float> expected(8, 1);
    expected.resize(16, 2);
    expect(rank.read(rank.stream, 16) == expected);
  });
  expectComplaint("receives from itself, but does not send to itself", [](Rank &rank) { rank.receive(rank.number); });
}

/// The host of rank 0 waits for a message that comes after one of its own in another stream, which rank 1 is to take: whose host has
/// asked for both, and looks at its device no more.
TEST_P(SimulatedNccl, WhatComesAfterACallInAnotherStream) {
  std::latch isAsked(1), isOver(1);
  expectGood([&](Rank &rank) {
    if (rank.number == 1) {
      rank.receive(0), rank.send(0);
      isAsked.count_down(), isOver.wait();
      return;
    }
    isAsked.wait();
    rank.send(1);
    rank.nccl.receive(rank.got(), Rank::count, DataType::F32, 1, rank.all, rank.beside.get());
    expect(rank.read(rank.beside, 8) == std::vector<float>(8, 2));
    isOver.count_down();
  });
}

/// Ranks that wait for each other, for both of whom a host has asked once: they do not ask each other again and again, so a stream
/// that nobody waits for stays where it is.
TEST(SimulatedNcclLate, WhoIsAskedAsksOnce) {
  std::latch haveAsked(2), isRead(1);
  EXPECT_EXIT(runRanks("late", 2,
                       [&](Rank &rank) {
                         rank.receive(1 - rank.number);
                         haveAsked.arrive_and_wait();
                         if (rank.number == 0) {
                           OwnedEvent end = makeEvent(rank.driver);
                           rank.driver.record(end.get(), rank.stream.get());
                           for (int i = 0; i < 3; ++i)
                             expect(!isOver(rank.driver, end));
                           std::this_thread::sleep_for(std::chrono::milliseconds(300)); // who is asked goes on
                           Pinned seen = allocatePinned(rank.driver, sizeof(float));
                           std::memset(seen.get(), 0, sizeof(float));
                           rank.driver.copyToHost(seen.get(), rank.arena.begin(), sizeof(float), rank.beside.get());
                           std::this_thread::sleep_for(std::chrono::milliseconds(100));
                           expect(*(const volatile float *)seen.get() == 0);
                           rank.driver.waitForStream(rank.beside.get());
                           expect(*(const float *)seen.get() == 1);
                           isRead.count_down();
                         }
                         isRead.wait();
                         rank.nccl.abort(std::exchange(rank.all, nullptr));
                         rank.wait();
                       }),
              testing::ExitedWithCode(0), "");
}

TEST_P(SimulatedNccl, OtherCounts) {
  expectComplaint("rank . of a communicator calls ncclAllReduce of [78] elements of type 7, "
                  "but rank . calls ncclAllReduce of [78] elements of type 7",
                  [](Rank &rank) { rank.sum(rank.number == 0 ? 8 : 7); });
}

TEST_P(SimulatedNccl, OtherTypes) {
  expectComplaint(
      "calls ncclAllReduce of 8 elements of type [67], but rank . calls ncclAllReduce of 8 elements of type",
      [](Rank &rank) { rank.sum(8, rank.number == 0 ? DataType::F32 : DataType::F16); });
}

TEST_P(SimulatedNccl, OtherReductions) {
  expectComplaint("of 8 elements of type 7.* of 8 elements of type 7",
                  [](Rank &rank) { rank.sum(8, DataType::F32, rank.number == 0 ? Reduction::Sum : Reduction::Max); });
}

TEST_P(SimulatedNccl, AnotherOrder) {
  expectComplaint("calls nccl(AllReduce|AllGather) .*, but rank . calls nccl(AllReduce|AllGather)", [](Rank &rank) {
    if (rank.number == 0)
      rank.sum(), rank.gather();
    else
      rank.gather(), rank.sum();
  });
}

TEST_P(SimulatedNccl, ACallThatARankLeavesOut) {
  expectComplaint(
      "rank . of a communicator waits for rank 1, which does not arrive at ncclAllReduce of 8 elements",
      [](Rank &rank) {
        if (rank.number != 1)
          rank.sum();
        else
          std::this_thread::sleep_for(std::chrono::seconds(5));
      },
      3);
}

TEST_P(SimulatedNccl, AMessageOfAnotherSize) {
  expectComplaint("calls ncclSend of 7 elements of type 7, but rank 0 calls ncclSend of 8 elements",
                  [](Rank &rank) { rank.number == 0 ? rank.send(1, 8) : rank.receive(0, 7); });
}

TEST_P(SimulatedNccl, AMessageOfAnotherPeer) {
  expectComplaint(
      "rank 1 of a communicator waits for rank 2, which does not arrive at ncclSend of 8 elements|"
      "rank 0 of a communicator waits for rank 1, which does not arrive at ncclSend of 8 elements",
      [](Rank &rank) {
        if (rank.number < 2)
          rank.number == 0 ? rank.send(1) : rank.receive(2);
        else
          std::this_thread::sleep_for(std::chrono::seconds(5));
      },
      3);
}

TEST_P(SimulatedNccl, MessagesInAnotherOrder) {
  expectComplaint("rank 1 of a communicator calls ncclSend of 4 elements of type 7, but rank 0 calls ncclSend of 8",
                  [](Rank &rank) {
                    if (rank.number == 0)
                      rank.send(1, 8), rank.send(1, 4);
                    else
                      rank.receive(0, 4), rank.receive(0, 8);
                  });
}

TEST_P(SimulatedNccl, AGroupThatGivesMoreThanIsTaken) {
  expectComplaint("rank 0 of a communicator sends more than rank 1 receives: ncclSend of 4 elements", [](Rank &rank) {
    rank.nccl.group([&] {
      if (rank.number == 0)
        rank.send(1, 8), rank.send(1, 4);
      else
        rank.receive(0, 8);
    });
  });
}

TEST_P(SimulatedNccl, AnotherCommunicator) {
  expectComplaint("waits for rank ., which does not arrive at ncclAllReduce of 8 elements", [](Rank &rank) {
    nccl::Config config;
    nccl::Handle part = nullptr;
    rank.nccl.split(rank.all, 0, rank.number, &part, &config);
    rank.nccl.allReduce(rank.given(), rank.got(), 8, DataType::F32, Reduction::Sum, rank.number ? part : rank.all,
                        rank.stream.get());
  });
}

TEST_P(SimulatedNccl, ACommunicatorThatDoesNotExist) {
  expectComplaint("a call of NCCL for a communicator that does not exist", [](Rank &rank) {
    rank.nccl.destroy(rank.all);
    rank.sum();
  });
}

TEST_P(SimulatedNccl, ARankThatDoesNotJoin) {
  auto join = [](const char *order) {
    setenv("XLC_SIMULATE_ORDER", order, 1), setenv("XLC_SIMULATE_PATIENCE", "0.5", 1);
    Job job;
    Rank rank(job, 2, 0);
  };
  EXPECT_EXIT(join(GetParam()), testing::ExitedWithCode(70),
              "rank 0 of 2 waits for other ranks to join its communicator");
}

/// It has made the id, and its process has ended.
TEST_P(SimulatedNccl, ARankThatHasGoneBeforeOthersJoin) {
  auto join = [](const char *order) {
    setenv("XLC_SIMULATE_ORDER", order, 1), setenv("XLC_SIMULATE_PATIENCE", "0.5", 1);
    setenv("XLC_SIMULATE_DEVICES", "2", 1);
    Job job;
    std::strcpy(job.id.bytes, "/proc/self/fd/99999");
    Rank rank(job, 2, 1);
  };
  EXPECT_EXIT(join(GetParam()), testing::ExitedWithCode(70),
              "rank 1 of 2 waits for other ranks to join its communicator");
}

TEST_P(SimulatedNccl, ARankThatDoesNotSplit) {
  expectComplaint("rank 0 of 2 waits for other ranks to split a communicator", [](Rank &rank) {
    nccl::Config config;
    nccl::Handle part = nullptr;
    if (rank.number == 0)
      rank.nccl.split(rank.all, 0, 0, &part, &config);
    else
      std::this_thread::sleep_for(std::chrono::seconds(5));
  });
}

TEST_P(SimulatedNccl, ACommunicatorOfOneRank) {
  expectComplaint("a communicator of one rank, for which NCCL would take 512 MiB", [](Rank &rank) {
    nccl::Config config;
    nccl::Handle part = nullptr;
    rank.nccl.split(rank.all, rank.number, 0, &part, &config);
  });
}

TEST_P(SimulatedNccl, NothingOrdersASumAfterWhatItReads) {
  expectComplaint(
      "reads 32 bytes that 'cuMemcpyHtoDAsync of 32 bytes' on another stream writes; the two accesses are not ordered|"
      "writes 32 bytes that 'ncclAllReduce of 8 elements of type 7' on another stream reads; the two accesses",
      [](Rank &rank) {
        rank.write(rank.beside, std::vector<float>(8, 1));
        rank.sum();
        rank.driver.waitForStream(rank.beside.get());
      });
}

TEST_P(SimulatedNccl, NothingOrdersWhatReadsAfterTheSum) {
  expectComplaint("'cuMemcpyDtoHAsync of 32 bytes' reads 32 bytes that ('ncclAllReduce of 8 elements of type 7' on "
                  "another stream writes; the two accesses are not ordered|were never written)",
                  [](Rank &rank) {
                    rank.sum();
                    rank.read(rank.beside, 8);
                  });
}

TEST_P(SimulatedNccl, ABufferThatIsWrittenWhileItIsSent) {
  expectComplaint("32 bytes that '(ncclSend of 8 elements of type 7|cuMemcpyHtoDAsync of 32 bytes)' on another stream "
                  "(reads|writes); the two accesses are not ordered",
                  [](Rank &rank) {
                    if (rank.number == 1)
                      return (void)rank.receive(0);
                    rank.send(1);
                    rank.write(rank.beside, std::vector<float>(8, 1));
                    rank.driver.waitForStream(rank.beside.get());
                  });
}

TEST_P(SimulatedNccl, AGroupThatIsNotClosed) {
  expectComplaint("a communicator is aborted in an open group", [](Rank &rank) {
    rank.nccl.beginGroup();
    rank.sum();
  });
  expectComplaint("the context is destroyed with 1 communicators", [](Rank &rank) {
    rank.nccl.beginGroup();
    rank.nccl.abort(std::exchange(rank.all, nullptr));
  });
}

TEST_P(SimulatedNccl, AGroupOfWhichACallFailsDoesNothing) {
  expectGood([](Rank &rank) {
    rank.nccl.beginGroup();
    rank.sum();
    expect(rank.send(2) == nccl::Status::InvalidArgument);
    expect(rank.nccl.endGroup() == nccl::Status::InternalError);
    rank.sum(); // the next one is as any other
    expect(rank.read(rank.stream, 8) == std::vector<float>(8, 3));
  });
}

TEST_P(SimulatedNccl, ACommunicatorThatIsDestroyedTooEarly) {
  expectComplaint("a communicator is destroyed before its operations have ended", [](Rank &rank) {
    rank.sum();
    if (rank.number == 0)
      rank.nccl.destroy(rank.all);
    else
      std::this_thread::sleep_for(std::chrono::seconds(5));
  });
}

TEST_P(SimulatedNccl, ACommunicatorThatIsLeft) {
  expectComplaint("the context is destroyed with 1 communicators", [](Rank &rank) { rank.all = nullptr; });
}

TEST_P(SimulatedNccl, WhatIsAbortedWaitsForNobody) {
  expectGood([](Rank &rank) {
    if (rank.number == 0)
      rank.sum();
    expect(rank.nccl.abort(std::exchange(rank.all, nullptr)) == nccl::Status::Success);
  });
}

TEST_P(SimulatedNccl, APeerThatHasGone) {
  expectGood([](Rank &rank) {
    auto status = nccl::Status::Success;
    setenv("XLC_SIMULATE_ASYNC", "1", 1);
    rank.nccl.getAsyncError(rank.all, &status);
    expect(status == (rank.number == 1 ? nccl::Status::RemoteError : nccl::Status::Success));
  });
}

TEST_P(SimulatedNccl, MemoryThatIsRegistered) {
  expectGood([](Rank &rank) {
    void *registration = rank.registerArena();
    rank.sum();
    expect(rank.read(rank.stream, 8) == std::vector<float>(8, 3));
    expect(rank.nccl.deregister(rank.all, registration) == nccl::Status::Success);
    expect(rank.nccl.deregister(rank.all, registration) == nccl::Status::InvalidUsage);
  });
}

TEST_P(SimulatedNccl, MemoryThatOneRankHasRegistered) {
  expectComplaint("(type 7, registered, but rank 1 calls .* of type 7|"
                  "rank 1 .* of type 7, but rank 0 calls .* of type 7, registered)",
                  [](Rank &rank) {
                    if (rank.number == 0)
                      rank.registerArena();
                    rank.sum();
                  });
}

TEST_P(SimulatedNccl, MemoryOfWhichSomeIsRegistered) {
  expectComplaint("ncclAllReduce .* uses memory that is not registered, but its communicator has registered memory",
                  [](Rank &rank) {
                    void *registration = nullptr;
                    rank.nccl.registerMemory(rank.all, rank.given(), Rank::count * sizeof(float), &registration);
                    rank.sum();
                  });
}

TEST_P(SimulatedNccl, MemoryThatOthersCannotMapIsRegistered) {
  expectComplaint("registered memory cannot be mapped by other ranks", [](Rank &rank) {
    Arena own(rank.driver, rank.number, 1 << 16);
    void *registration = nullptr;
    rank.nccl.registerMemory(rank.all, (void *)(uintptr_t)own.begin(), own.size(), &registration); // NOLINT
  });
}

TEST_P(SimulatedNccl, MemoryThatGoesWhileItIsRegistered) {
  expectComplaint("memory is unmapped while it is registered", [](Rank &rank) {
    Arena other(rank.driver, rank.number, 1 << 16, Sharing::Exportable);
    void *registration = nullptr;
    rank.nccl.registerMemory(rank.all, (void *)(uintptr_t)other.begin(), other.size(), &registration); // NOLINT
  });
}

TEST_P(SimulatedNccl, MemoryThatIsDeregisteredTooEarlyOrNot) {
  expectComplaint("memory is deregistered before its communicator's operations have ended", [](Rank &rank) {
    void *registration = rank.registerArena();
    if (rank.number == 1)
      std::this_thread::sleep_for(std::chrono::seconds(5));
    rank.sum();
    rank.nccl.deregister(rank.all, registration);
  });
  expectComplaint("a communicator is destroyed while memory is registered with it",
                  [](Rank &rank) { rank.registerArena(); });
}

INSTANTIATE_TEST_SUITE_P(Orders, SimulatedNccl, testing::Values("early", "late", "random:1"));

} // namespace
