// A slow link: reads of a rank take their time, the streams of a rank share the link, and nothing else changes.
#include "Fabric/SlowFabric.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

/// Counts bytes and moves none.
class Counter final : public Fabric {
public:
  void exchange(const Exchange &exchange, const Participant &self) override {
    self.moved[plan::Axis::dp].allGather += exchange.chunk;
  }
  void send(const Message &, const char *, const Participant &) override {}
  void receive(const Message &, char *, const Participant &) override {}
  void meet(Pulse *) override {}
};

class NoMover final : public Mover {
public:
  void copy(const Copy &) override {}
  void combine(const Combination &) override {}
  void convert(const Conversion &) override {}
};

double secondsOf(const std::function<void()> &work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct SlowFabricTest : testing::Test {
  Counter counter;
  SlowFabric slow{counter, /*bytesPerSecond=*/1e4, /*ranks=*/2};
  void exchange(int rank, uint64_t bytes) {
    MovedByAxis moved;
    Participant self{rank, mover, moved};
    Exchange exchange{};
    exchange.chunk = bytes;
    slow.exchange(exchange, self);
    EXPECT_EQ(moved.total(), bytes);
  }
  NoMover mover;
};

TEST_F(SlowFabricTest, AMessageTakesTheTimeOfItsBytes) {
  EXPECT_GE(secondsOf([&] { exchange(0, 500); }), 0.05);
  EXPECT_LT(secondsOf([&] { exchange(0, 0); }), 0.05); // nothing is read, nothing is waited for
}

TEST_F(SlowFabricTest, StreamsOfARankShareItsLink) {
  double seconds = secondsOf([&] {
    std::thread other([&] { exchange(0, 500); });
    exchange(0, 500);
    other.join();
  });
  EXPECT_GE(seconds, 0.1);
}

TEST_F(SlowFabricTest, RanksHaveLinksOfTheirOwn) {
  double seconds = secondsOf([&] {
    std::thread other([&] { exchange(1, 5000); });
    exchange(0, 5000);
    other.join();
  });
  EXPECT_GE(seconds, 0.5);
  EXPECT_LT(seconds, 0.9); // one after the other would take 1.0
}

TEST_F(SlowFabricTest, BothSidesOfATransferTakeItsTime) {
  MovedByAxis moved;
  Participant self{1, mover, moved};
  EXPECT_GE(secondsOf([&] { slow.send({0, 0, 500}, nullptr, self); }), 0.05);
  EXPECT_GE(secondsOf([&] { slow.receive({1, 0, 500}, nullptr, self); }), 0.05);
}

} // namespace
