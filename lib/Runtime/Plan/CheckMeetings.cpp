// Compares programs with each other. Every message and every collective of several stages has its counterpart, in an
// order in which all stages reach their end. Programs of one stage have the same memory.
#include "Exchanges.h"
#include "PlanCheckers.h"

#include <algorithm>

namespace xlc::runtime {

void MeetingChecker::checkShared(const plan::ProgramT &other) {
  const plan::ProgramT &trained = *findProgram(plan, plan::Purpose::train, other.stage);
  require(other.arena == trained.arena, "stage {} has arenas of different sizes: {} and {} bytes", other.stage,
          trained.arena, other.arena);
  for (const auto &home : other.states) {
    const plan::StateT &state = *plan.states[home->state];
    auto isSame = [&](const auto &known) {
      return known->state == home->state && known->place->offset() == home->place->offset() &&
             known->place->stride() == home->place->stride();
    };
    bool isOwn = state.kind == plan::StateKind::Index || state.kind == plan::StateKind::Site ||
                 state.kind == plan::StateKind::Result; // nobody else has to find it
    require(isOwn || std::ranges::any_of(trained.states, isSame),
            "stage {}: {} is not in the same place in training and in evaluation", other.stage,
            describeState(plan, state));
  }
}

namespace {

/// What a stage does together with other stages.
struct Rendezvous {
  const plan::StepT *step;
  const plan::SendT *send = nullptr;
  const plan::ReceiveT *receive = nullptr;
  const plan::ExchangeT *reduce = nullptr;

  /// Nothing where the stage acts by itself.
  static std::optional<Rendezvous> of(const plan::StepT &step, const Plan &plan) {
    Rendezvous rendezvous{&step, step.action.AsSend(), step.action.AsReceive(), step.action.AsExchange()};
    bool isShared = rendezvous.reduce && !plan.rank_groups[rendezvous.reduce->group]->stages.empty();
    if (rendezvous.send || rendezvous.receive || isShared)
      return rendezvous;
    return std::nullopt;
  }
};

bool isSameReduction(const Rendezvous &one, const Rendezvous &other) {
  const plan::ExchangeT *a = one.reduce, *b = other.reduce;
  return a && b && one.step->stream == other.step->stream && a->kind == b->kind && a->group == b->group &&
         a->outer == b->outer && a->chunk == b->chunk && a->element == b->element && a->wire == b->wire;
}

} // namespace

/// Runs the stages' lists of rendezvous against each other until all are at their end, or none can go on.
void MeetingChecker::checkMeetings(plan::Purpose purpose) {
  std::vector<std::vector<Rendezvous>> lists(plan.mesh->pp());
  for (uint32_t i = 0; i < lists.size(); ++i) {
    const plan::ProgramT *ofStage = findProgram(plan, purpose, i);
    if (!ofStage)
      return;
    for (const auto &step : ofStage->steps) {
      if (std::optional<Rendezvous> rendezvous = Rendezvous::of(*step, plan))
        lists[i].push_back(*rendezvous);
      const auto *exchange = step->action.AsExchange();
      require(!exchange || plan.rank_groups[exchange->group]->stages.empty() || isReduction(exchange->kind),
              "action '{}' gathers or scatters over several stages; only reductions may span stages", step->label);
    }
  }
  std::vector<size_t> at(lists.size());
  auto next = [&](uint32_t i) -> const Rendezvous * { return at[i] < lists[i].size() ? &lists[i][at[i]] : nullptr; };
  auto meet = [&](uint32_t i) {
    const Rendezvous &mine = *next(i);
    if (mine.receive)
      return false; // the sender sees to it
    if (mine.send) {
      const Rendezvous *other = next(mine.send->peer);
      bool fits = other && other->receive && other->receive->peer == i &&
                  other->receive->message == mine.send->message && other->receive->bytes == mine.send->bytes;
      if (fits)
        ++at[i], ++at[mine.send->peer];
      return fits;
    }
    const std::vector<uint32_t> &stages = plan.rank_groups[mine.reduce->group]->stages;
    bool fits = std::all_of(stages.begin(), stages.end(),
                            [&](uint32_t other) { return next(other) && isSameReduction(*next(other), mine); });
    for (size_t k = 0; fits && k < stages.size(); ++k)
      ++at[stages[k]];
    return fits;
  };
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (uint32_t i = 0; i < lists.size(); ++i)
      while (next(i) && meet(i))
        isMoving = true;
  }
  for (uint32_t i = 0; i < lists.size(); ++i)
    require(!next(i), "stage {} waits forever at action '{}'", i, next(i) ? next(i)->step->label : "");
}

} // namespace xlc::runtime
