// Transfers: bytes arrive in order, a wrong message is detected, and no rank waits for one that has ended. The same
// between ranks that exchange messages.
#include "Fabric/Transfers.h"
#include "Cpu/CpuDevice.h"
#include "Fabric/MessageFabric.h"
#include "LoopWire.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

/// Two stages of two ranks; stage 0 sends to stage 1.
Plan makeTwoByTwo() {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(2, 1, 2, 1), plan.threads = 2;
  for (uint32_t stage = 0; stage < 2; ++stage)
    plan.programs.emplace_back(std::make_unique<plan::ProgramT>())->stage = stage;
  auto step = std::make_unique<plan::StepT>();
  plan::SendT send;
  send.peer = 1;
  step->action.Set(std::move(send));
  plan.programs[0]->steps.push_back(std::move(step));
  step = std::make_unique<plan::StepT>();
  step->action.Set(plan::ReceiveT());
  plan.programs[1]->steps.push_back(std::move(step));
  return plan;
}

TEST(Transfers, ARankSendsToTheRankLikeItAndMayThenChangeTheValue) {
  Plan plan = makeTwoByTwo();
  Commons commons;
  Transfers transfers(plan, 50, commons);
  commons.provide();
  constexpr int count = 100000;
  constexpr uint64_t messages = 20;
  std::vector<std::thread> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back([&, r] {
      CpuDevice device({plan, nullptr, 50});
      MovedByAxis moved;
      for (uint64_t k = 0; k < messages; ++k) {
        std::vector<int> value(count, 100 * (int)k + r);
        transfers.send({k, 1, count * 4}, (const char *)value.data(), {r, device, moved});
        value.assign(count, -1);
      }
    });
    ranks.emplace_back([&, r] {
      CpuDevice device({plan, nullptr, 50});
      MovedByAxis moved;
      for (uint64_t k = 0; k < messages; ++k) {
        std::vector<int> value(count);
        transfers.receive({k, 0, count * 4}, (char *)value.data(), {2 + r, device, moved});
        EXPECT_EQ(value, std::vector<int>(count, 100 * (int)k + r));
      }
      EXPECT_EQ(moved[plan::Axis::pp].transfer, messages * count * 4);
    });
  }
  for (std::thread &rank : ranks)
    rank.join();
}

TEST(Transfers, AnotherMessageThanTheOneThatIsDueIsAnError) {
  Plan plan = makeTwoByTwo();
  Commons commons;
  Transfers transfers(plan, 50, commons);
  commons.provide();
  CpuDevice device({plan, nullptr, 50});
  MovedByAxis moved;
  std::thread sender([&] {
    MovedByAxis none;
    try {
      transfers.send({7, 1, 0}, "", {0, device, none});
    } catch (const Stopped &) {
    }
  });
  try {
    transfers.receive({8, 0, 0}, nullptr, {2, device, moved});
    ADD_FAILURE();
  } catch (const std::runtime_error &problem) {
    EXPECT_STREQ(problem.what(), "message 7 arrived, but message 8 is expected");
  }
  commons.stop().raise(Exit::RankFailed, "");
  sender.join();
}

TEST(Transfers, OfMessagesArriveInOrderAndAreComparedByTheirNumber) {
  Plan plan = makeTwoByTwo();
  PostOffice office(4);
  LoopWire wires[2] = {{office, 1}, {office, 3}};
  Commons commons[2];
  MessageFabric from(plan, wires[0], 50, commons[0]), to(plan, wires[1], 50, commons[1]);
  commons[0].provide(), commons[1].provide();
  MovedByAxis none, moved;
  CpuDevice device({plan, nullptr, 50});
  std::thread sender([&] {
    for (uint64_t k : {4, 5, 7}) {
      std::vector<uint64_t> value(1000, k);
      from.send({k, 1, 8000}, (const char *)value.data(), {1, device, none});
    }
  });
  std::vector<uint64_t> value(1000);
  for (uint64_t k : {4, 5}) {
    to.receive({k, 0, 8000}, (char *)value.data(), {3, device, moved});
    EXPECT_EQ(value, std::vector<uint64_t>(1000, k));
  }
  EXPECT_EQ(moved[plan::Axis::pp].transfer, 16000u);
  EXPECT_EQ(none.total(), 0u);
  try {
    to.receive({6, 0, 8000}, (char *)value.data(), {3, device, moved});
    ADD_FAILURE();
  } catch (const std::runtime_error &problem) {
    EXPECT_STREQ(problem.what(), "message 7 arrived, but message 6 is expected");
  }
  sender.join();
}

} // namespace
