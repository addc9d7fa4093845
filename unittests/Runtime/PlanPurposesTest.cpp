// A plan with programs of two purposes: they share the memory of a stage, and the one that evaluates names its results.
#include "PlanComplaints.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

/// The tiny plan runs the same steps to evaluate, and has sums of its own.
TEST(Plan, ProgramsOfAStageShareWhatTheyKeep) {
  auto add = [](Plan &p) -> plan::ProgramT & {
    auto &made = *p.programs.emplace_back(std::make_unique<plan::ProgramT>(*p.programs[0]));
    made.purpose = plan::Purpose::evaluate;
    for (auto [name, element] : {std::pair("loss_sum", plan::Element::F64), {"targets", plan::Element::I64}}) {
      auto state = std::make_unique<plan::StateT>();
      state->kind = plan::StateKind::Result, state->name = name, state->element = element;
      auto home = std::make_unique<plan::StatePlaceT>();
      home->state = (uint32_t)p.states.size();
      home->place = std::make_unique<plan::Place>(*findNumber(p, made, plan::StateKind::Result, "loss"));
      p.states.push_back(std::move(state)), made.states.push_back(std::move(home));
    }
    return made;
  };
  EXPECT_EQ(complaintAfter([&](Plan &p) { add(p); }), "");
  expect("stage 0 has arenas of different sizes: 2560 and 4096 bytes", [&](Plan &p) { add(p).arena = 4096; });
  expect("stage 0: bucket 'bucket' is not in the same place in training and in evaluation",
         [&](Plan &p) { *add(p).states[0]->place = plan::Place(512, 0, 1); });
  expect("there are 2 programs for 1 stages, but each stage must have exactly one", [&](Plan &p) { add(p), add(p); });
  expect("there are 1 programs for 1 stages, but each stage must have exactly one", [&](Plan &p) { add(p).stage = 7; });
  expect("a program has an unknown purpose", [&](Plan &p) { add(p).purpose = (plan::Purpose)9; });
  expect("no stage has a loss in an evaluation", [&](Plan &p) { add(p).states.resize(1); });
  auto evaluation = [](Plan &p) -> plan::EvaluationT & {
    p.evaluation = std::make_unique<plan::EvaluationT>(), p.evaluation->metrics = {"loss"};
    p.validation = std::make_unique<plan::DatasetT>(*p.dataset);
    return *p.evaluation;
  };
  EXPECT_EQ(complaintAfter([&](Plan &p) { add(p), evaluation(p); }), "");
  expect("a dataset does not have the 2 inputs of the plan",
         [&](Plan &p) { evaluation(p), p.validation->inputs.clear(); });
  expect("an evaluation has an unknown metric, or no metrics", [&](Plan &p) { evaluation(p).metrics = {"bleu"}; });
  expect("an evaluation has an unknown average", [&](Plan &p) { evaluation(p).average = 7; });
  expect("an evaluation has the min_delta -1, which must be a finite number of at least 0",
         [&](Plan &p) { evaluation(p).min_delta = -1; });
  expect("evaluations are compared by 'f1', which is not one of their metrics",
         [&](Plan &p) { evaluation(p).patience = 1, p.evaluation->judged = "f1"; });
}

} // namespace
