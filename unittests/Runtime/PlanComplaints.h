// The errors in a plan with one mistake: the plan of the tiny program, edited.
#ifndef XLC_UNITTESTS_RUNTIME_PLANCOMPLAINTS_H
#define XLC_UNITTESTS_RUNTIME_PLANCOMPLAINTS_H

#include "TinyProgram.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace xlc::test {

/// The plan as a binary has it.
inline std::vector<uint8_t> pack(const runtime::Plan &plan) {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// Gives the last stage a place for its ranks' index in the first group.
inline void addIndex(runtime::Plan &plan, plan::Place place) {
  auto state = std::make_unique<plan::StateT>();
  state->kind = plan::StateKind::Index, state->begins = plan::Beginning::Index;
  state->group = 0, state->element = plan::Element::I64;
  auto home = std::make_unique<plan::StatePlaceT>();
  home->state = (uint32_t)plan.states.size(), home->place = std::make_unique<plan::Place>(place);
  plan.states.push_back(std::move(state));
  plan.programs.back()->states.push_back(std::move(home));
}

/// What is said of the tiny plan after `edit`; nothing where it is accepted.
inline std::string complaintAfter(const std::function<void(runtime::Plan &)> &edit) {
  runtime::Plan plan = runtime::tiny::makePlan(3);
  edit(plan);
  std::vector<uint8_t> bytes = pack(plan);
  try {
    runtime::checkPlan(*runtime::readPlan(runtime::sealPlan(bytes.data(), bytes.size())), 5);
  } catch (const runtime::Rejected &problem) {
    return problem.what();
  }
  return "";
}

inline void expect(const std::string &words, const std::function<void(runtime::Plan &)> &edit) {
  std::string complaint = complaintAfter(edit);
  EXPECT_NE(complaint.find(words), std::string::npos) << "wanted: " << words << "\ngot: " << complaint;
}

/// Stage 0 sends, stage 1 receives, both reduce; nothing else.
inline runtime::Plan makeTwoStages() {
  runtime::Plan plan = runtime::tiny::makePlan(3);
  *plan.mesh = plan::Mesh(2, 2, 1, 2);
  plan.programs.push_back(std::make_unique<plan::ProgramT>(*plan.programs[0]));
  plan.programs.back()->stage = 1;
  auto both = std::make_unique<plan::RankGroupT>();
  both->digits = {2, 1}, both->stages = {0, 1};
  plan.rank_groups.push_back(std::move(both));
  auto add = [&](int stage, const char *label, auto action) {
    auto step = std::make_unique<plan::StepT>();
    step->label = label, step->action.Set(std::move(action));
    plan.programs[stage]->steps.push_back(std::move(step));
  };
  plan::ExchangeT reduce;
  reduce.group = 1, reduce.chunk = 4;
  reduce.src = std::make_unique<plan::Place>(0, 0, 0), reduce.dst = std::make_unique<plan::Place>(0, 0, 0);
  plan::SendT send;
  send.peer = 1, send.message = 5, send.bytes = 64, send.place = std::make_unique<plan::Place>(0, 0, 0);
  plan::ReceiveT receive;
  receive.peer = 0, receive.message = 5, receive.bytes = 64, receive.place = std::make_unique<plan::Place>(0, 0, 0);
  add(0, "send", std::move(send)), add(1, "receive", std::move(receive));
  for (int stage : {0, 1})
    add(stage, "reduce", plan::ExchangeT(reduce));
  return plan;
}

} // namespace xlc::test

#endif
