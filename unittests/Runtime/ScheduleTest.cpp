// A schedule of learning rates as a plan holds it: its numbers are checked, and programs follow it.
#include "PlanComplaints.h"
#include "TinyProgram.h"
#include "xlc/Runtime/RateSchedules.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::runtime::tiny;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

TEST(Schedule, ItsNumbersAreThoseThatItsTypeTakes) {
  using Numbers = std::vector<std::pair<ScheduleKey, double>>;
  auto with = [](ScheduleType type, Numbers numbers) {
    return [type, numbers](Plan &p) {
      p.schedule = std::make_unique<plan::ScheduleT>();
      p.schedule->type = (uint8_t)type;
      for (auto [key, value] : numbers)
        p.schedule->numbers.emplace_back(value, (uint8_t)key);
    };
  };
  using enum ScheduleType;
  EXPECT_EQ(complaintAfter(with(Cosine, {{ScheduleKey::Steps, 10}, {ScheduleKey::MinLr, 0.1}})), "");
  expect("the learning rate schedule has the unknown type 15", with((ScheduleType)15, {}));
  expect("schedule linear has key 6, which is unknown or repeated", with(Linear, {{ScheduleKey::Power, 2}}));
  expect("schedule linear has key 0, which is unknown or repeated",
         with(Linear, {{ScheduleKey::Warmup, 2}, {ScheduleKey::Warmup, 3}}));
  expect("schedule linear has an invalid value of warmup: 0.5", with(Linear, {{ScheduleKey::Warmup, 0.5}}));
  expect("schedule linear has an invalid value of steps: 0", with(Linear, {{ScheduleKey::Steps, 0}}));
  expect("schedule step lacks size", with(Step, {{ScheduleKey::Gamma, 0.5}}));
  expect("schedule cosine has min_lr 0.75, which is above the learning rate of the first group, 0.5",
         with(Cosine, {{ScheduleKey::MinLr, 0.75}}));
  expect("schedule multistep has 0 milestones; only multistep has milestones, which must be in ascending order",
         with(Multistep, {}));
  expect("schedule multistep has 2 milestones; only multistep has milestones, which must be in ascending order",
         [&](Plan &p) {
           with(Multistep, {})(p);
           p.schedule->milestones = {5, 5};
         });
  expect("schedule WarmupLR has an unknown warmup or decay shape", [&](Plan &p) {
    with(WarmupLR, {})(p);
    p.schedule->warmup_shape = 4;
  });
}

TEST(Schedule, RatesFollowItOverTheStepsOfTheRun) {
  Folder folder;
  writeData(folder);
  Plan plan = makePlan(0);
  plan.schedule = std::make_unique<plan::ScheduleT>();
  plan.schedule->type = (uint8_t)ScheduleType::Linear;
  auto rates = [&](std::vector<std::string> options) {
    std::vector<double> found;
    options.insert(options.end(), {"--log", folder.file("log")});
    EXPECT_EQ(run(plan, folder, options), Exit::Done);
    std::string log = folder.read("log");
    for (size_t at = 0; (at = log.find("\"lr\":", at)) != std::string::npos; at += 5)
      found.push_back(std::stod(log.substr(at + 5)));
    return found;
  };
  using Rates = std::vector<double>; // the group's is 0.5
  EXPECT_EQ(rates({"--steps", "4"}), (Rates{0.5, 0.375, 0.25, 0.125}));
  EXPECT_EQ(rates({"--steps", "2"}), (Rates{0.5, 0.25}));
  EXPECT_EQ(rates({"--steps", "4", "--lr", "1"}), (Rates{1, 0.75, 0.5, 0.25}));
  plan.schedule->numbers.emplace_back(2, (uint8_t)ScheduleKey::Steps);
  EXPECT_EQ(rates({"--steps", "4"}), (Rates{0.5, 0.25, 0, 0}));
}

} // namespace
