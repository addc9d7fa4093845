// Transfers: bytes arrive in order, a wrong message is noticed, nobody waits for a rank that has gone.
#include "Fabric/Transfers.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

/// Two stages of two ranks; stage 0 sends to stage 1.
Plan makePlan() {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(2, 1, 2, 1);
  for (int stage = 0; stage < 2; ++stage)
    plan.programs.push_back(std::make_unique<plan::ProgramT>());
  auto step = std::make_unique<plan::StepT>();
  plan::SendT send;
  send.peer = 1;
  step->action.Set(std::move(send));
  plan.programs[0]->steps.push_back(std::move(step));
  return plan;
}

plan::SendT sendOf(uint64_t message) {
  plan::SendT send;
  send.message = message, send.peer = 1;
  return send;
}

plan::ReceiveT receiveOf(uint64_t message, uint64_t bytes) {
  plan::ReceiveT receive;
  receive.message = message, receive.bytes = bytes;
  return receive;
}

TEST(Transfers, ARankSendsToTheRankLikeItAndMayThenChangeTheValue) {
  Plan plan = makePlan();
  StopSignal stop;
  Transfers transfers(plan, 50, stop);
  constexpr int count = 100000, messages = 20;
  std::vector<std::thread> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.emplace_back([&, r] {
      for (int k = 0; k < messages; ++k) {
        std::vector<int> value(count, 100 * k + r);
        transfers.run(sendOf(k), r, (const char *)value.data());
        value.assign(count, -1);
      }
    });
    ranks.emplace_back([&, r] {
      Team team(2, 50, [] {});
      MovedByAxis moved;
      for (int k = 0; k < messages; ++k) {
        std::vector<int> value(count);
        transfers.run(receiveOf(k, count * 4), 2 + r, (char *)value.data(), team, moved);
        EXPECT_EQ(value, std::vector<int>(count, 100 * k + r));
      }
      EXPECT_EQ(moved[plan::Axis::Pp].transfer, messages * count * 4u);
    });
  }
  for (std::thread &rank : ranks)
    rank.join();
}

TEST(Transfers, AnotherMessageThanTheOneThatIsDueIsAnError) {
  Plan plan = makePlan();
  StopSignal stop;
  Transfers transfers(plan, 50, stop);
  std::thread sender([&] {
    try {
      transfers.run(sendOf(7), 0, "");
    } catch (const Stopped &) {
    }
  });
  Team team(1, 50, [] {});
  MovedByAxis moved;
  try {
    transfers.run(receiveOf(8, 0), 2, nullptr, team, moved);
    ADD_FAILURE();
  } catch (const std::runtime_error &problem) {
    EXPECT_STREQ(problem.what(), "message 7 came where message 8 was due");
  }
  stop.raise(Exit::RankFailed, "");
  sender.join();
}

} // namespace
