// Chooses when gradients are reduced and how long parameters stay gathered, where the spec has `auto`.
//
// Both trade memory for fewer bytes of communication, and memory is known only when the last phase has placed the last
// buffer. So nothing is estimated: each combination is planned, the one that moves least first, until a plan fits.
// Traffic needs no memory plan: all combinations are planned up to Schedule, and usually one of them further.
#include "xlc/Search/ChooseZero.h"

using namespace xlc;
using Origin = ZeroChoice::Origin;

/// What is left open saves memory, which stages 2 and 3 are asked for.
ZeroChoice xlc::readZeroChoice(const Spec &spec) {
  using Reduce = ZeroSpec::Reduce;
  const std::optional<bool> &reshards = spec.zero.reshardAfterForward;
  Origin open = spec.deviceMemory ? Origin::Memory : Origin::Default;
  bool isSharding = spec.dpShardOrAll() > 1;
  ZeroChoice choice;
  choice.reducesPerStep = spec.zero.reduce == Reduce::Step;
  choice.keepsGathered = !reshards.value_or(true);
  if (isSharding && spec.zeroStage >= 2 && spec.microBatches() > 1)
    choice.reduce = spec.zero.reduce == Reduce::Auto ? open : Origin::Given;
  if (isSharding && spec.zeroStage == 3)
    choice.gather = reshards ? Origin::Given : open;
  return choice;
}

std::vector<std::pair<Spec, ZeroTrial>> xlc::listAnswers(const Spec &spec) {
  ZeroChoice choice = readZeroChoice(spec);
  std::vector<ZeroTrial> trials = {{choice.reducesPerStep, choice.keepsGathered, 0, {}}};
  if (choice.reduce != Origin::Memory && choice.gather != Origin::Memory)
    return {{spec, trials.front()}};
  auto branch = [&](Origin origin, bool ZeroTrial::*answer) {
    for (size_t i = 0, end = trials.size(); origin == Origin::Memory && i < end; ++i) {
      trials.push_back(trials[i]);
      trials.back().*answer = true;
    }
  };
  branch(choice.reduce, &ZeroTrial::reducesPerStep);
  branch(choice.gather, &ZeroTrial::keepsGathered);
  std::vector<std::pair<Spec, ZeroTrial>> answers;
  for (const ZeroTrial &trial : trials) {
    Spec answered = spec;
    answered.zero.reduce = trial.reducesPerStep ? ZeroSpec::Reduce::Step : ZeroSpec::Reduce::MicroBatch;
    answered.zero.reshardAfterForward = !trial.keepsGathered;
    answers.emplace_back(std::move(answered), trial);
  }
  return answers;
}

ZeroChoice xlc::chooseZero(const Spec &spec, const Planner &planner,
                           const std::function<void(const std::string &)> &tell) {
  ZeroChoice choice = readZeroChoice(spec);
  if (choice.reduce != Origin::Memory && choice.gather != Origin::Memory)
    return choice;
  Search search(planner, *spec.deviceMemory, /*isAllExact=*/true,
                [&](size_t, const std::string &obstacle) { tell(obstacle); });
  search.add(0, spec);
  for (const Candidate &candidate : search.getCandidates()) {
    ZeroTrial &trial = choice.trials.emplace_back(candidate.zero);
    if (candidate.need)
      trial.total = candidate.need->bytes;
  }
  if (const Candidate *chosen = search.findNearest()) { // one that fits is smaller than all that do not
    choice.reducesPerStep = chosen->zero.reducesPerStep;
    choice.keepsGathered = chosen->zero.keepsGathered;
  }
  return choice;
}
