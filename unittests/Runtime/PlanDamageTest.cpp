// The checksum rejects a plan with a flipped bit, the replay rejects one whose streams have no order, and no bytes
// crash the reader.
#include "PlanComplaints.h"

#include <gtest/gtest.h>

#include <random>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

/// The tiny program of two stages, with what only composed programs have.
Plan makeComposed() {
  Plan plan = makeTwoStages();
  plan::CallT &call = *plan.functions[1]->calls[0];
  call.exchange = std::make_unique<plan::ExchangeT>();
  call.exchange->outer = 1, call.exchange->chunk = 2;
  addIndex(plan, plan::Place(0, 0, 0));
  plan.parameters[0]->layout = std::make_unique<plan::LayoutT>();
  plan.parameters[0]->layout->outer = 1, plan.parameters[0]->elements = 40;
  return plan;
}

TEST(Plan, NoBitOfAPlanMayDiffer) {
  std::vector<uint8_t> bytes = pack(makeComposed());
  PlanBytes sealed = sealPlan(bytes.data(), bytes.size());
  EXPECT_NO_THROW(readPlan(sealed));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    EXPECT_THROW(readPlan(sealed), Rejected);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  try {
    readPlan({sealed.begin, sealed.size, 7});
    FAIL() << "accepted";
  } catch (const Rejected &problem) {
    EXPECT_NE(std::string(problem.what()).find("0000000000000007 was recorded; compile or copy the program again"),
              std::string::npos)
        << problem.what();
  }
  EXPECT_THROW(readPlan({sealed.begin, sealed.size - 1, sealed.checksum}), Rejected);
}

TEST(Plan, StreamsThatShareBytesHaveAnOrder) {
  using plan::Stream;
  auto onStreams = [](Plan &p, std::vector<uint32_t> loadAfter, std::vector<uint32_t> runAfter) {
    auto &steps = p.programs[0]->steps; // begin, gather w, load 0, gradient 0, load 1, gradient 1, ...
    steps[2]->stream = Stream::copy, steps[3]->after = {2};
    steps[4]->stream = Stream::copy, steps[4]->after = std::move(loadAfter), steps[5]->after = std::move(runAfter);
  };
  EXPECT_EQ(complaintAfter([&](Plan &p) { onStreams(p, {3}, {4}); }), "");
  expect("stage 0: 'load 1' on copy writes bytes 1024 to 1584 of the arena ('x'), which 'gradient 0' on "
         "compute reads ('x'); the two accesses are not ordered",
         [&](Plan &p) { onStreams(p, {}, {4}); });
  expect("stage 0: 'gradient 1' on compute reads bytes 1024 to 1584 of the arena ('x'), which 'load 1' on "
         "copy writes ('x'); the two accesses are not ordered",
         [&](Plan &p) { onStreams(p, {3}, {}); });
}

TEST(Plan, NoMutatedPlanCrashesTheReader) {
  for (std::vector<uint8_t> good : {pack(tiny::makePlan(3)), pack(makeComposed())}) {
    EXPECT_NO_THROW(checkPlan(*readPlan(sealPlan(good.data(), good.size())), 5));
    std::mt19937 random(1);
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
      std::vector<uint8_t> bytes = good;
      for (int edits = 1 + (int)(random() % 4); edits-- > 0;)
        bytes[random() % bytes.size()] = (uint8_t)random();
      if (random() % 8 == 0)
        bytes.resize(random() % bytes.size());
      try {
        checkPlan(*readPlan(sealPlan(bytes.data(), bytes.size())), 5);
        ++accepted;
      } catch (const Rejected &) {
      }
    }
    EXPECT_GT(accepted, 0); // names, seeds, padding
  }
}

} // namespace
