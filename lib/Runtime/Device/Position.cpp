// See Position.h.
#include "Position.h"

#include "Plan/Ranks.h"

#include <fmt/format.h>

namespace xlc::runtime {
namespace {

/// The first memory that an action names; none for actions that name none.
const plan::Place *findFirstPlace(const Plan &plan, const plan::ActionUnion &action) {
  switch (action.type) {
  case plan::Action::NONE:
    return nullptr;
  case plan::Action::Begin:
    return action.AsBegin()->places.empty() ? nullptr : &action.AsBegin()->places[0];
  case plan::Action::Load:
    return action.AsLoad()->places.empty() ? nullptr : &action.AsLoad()->places[0];
  case plan::Action::Store:
    return action.AsStore()->places.empty() ? nullptr : &action.AsStore()->places[0];
  case plan::Action::Run:
    for (const auto &call : plan.functions[action.AsRun()->function]->calls)
      if (!call->outs.empty())
        return &action.AsRun()->places[call->outs[0].slot()];
    return nullptr;
  case plan::Action::Exchange:
    return action.AsExchange()->dst.get();
  case plan::Action::Release:
    return action.AsRelease()->place.get();
  case plan::Action::Send:
    return action.AsSend()->place.get();
  case plan::Action::Receive:
    return action.AsReceive()->place.get();
  }
  return nullptr;
}

} // namespace

std::string describe(const Plan &plan, const Position &at, const plan::Place *loaded) {
  std::string text = fmt::format("rank {}, step {}", at.rank, at.step);
  if (at.purpose != plan::Purpose::train)
    text += fmt::format(", purpose '{}'", plan::EnumNamePurpose(at.purpose));
  const plan::ProgramT *found = findProgram(plan, at.purpose, stageOf(plan, at.rank));
  if (!found) // what another process shows is its own
    return text;
  const plan::ProgramT &program = *found;
  if (at.action == Position::graph)
    return text + ", CUDA graph of the step";
  if (at.action >= program.steps.size())
    return text;
  const plan::StepT &action = *program.steps[at.action];
  text += fmt::format(", action '{}'", action.label);
  const plan::Place *written = loaded ? loaded : findFirstPlace(plan, action.action);
  const plan::RunT *run = action.action.AsRun();
  size_t calls = run ? plan.functions[run->function]->calls.size() : 0;
  if (at.call >= 0 && (size_t)at.call < calls) { // who looks at another rank may see the numbers of two moments
    const plan::CallT &call = *plan.functions[run->function]->calls[at.call];
    text += fmt::format(", call '{}'", call.name);
    if (!call.outs.empty())
      written = &run->places[call.outs[0].slot()];
  }
  if (written)
    text += fmt::format(", tensor '{}'", program.buffers[written->buffer()]->name);
  return text;
}

} // namespace xlc::runtime
