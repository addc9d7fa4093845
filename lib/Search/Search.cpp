// See Search.h. Whether a plan fits is mostly known from its bound, and so is which one comes nearest: the candidate
// with the lowest number is asked until the lowest number is one that a plan was made for.
#include "xlc/Search/Search.h"
#include "xlc/Search/ChooseZero.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace xlc;

void Search::tellOnce(size_t group, const std::string &obstacle) {
  if (told.emplace(group, obstacle).second)
    tell(group, obstacle);
}

std::unique_ptr<Trial> Search::begin(Candidate &candidate) {
  std::string obstacle;
  std::unique_ptr<Trial> trial = planner(candidate.spec, obstacle);
  if (!trial)
    tellOnce(candidate.group, obstacle);
  return trial;
}

bool Search::ask(Candidate &candidate, Trial &trial, int64_t limit) {
  std::optional<int64_t> least = trial.findLeast();
  std::optional<Need> need;
  if (least)
    need = *least > limit ? Need{*least, false} : trial.findNeed(limit);
  if (!need) {
    tellOnce(candidate.group, "its memory has no plan");
    return false;
  }
  candidate.need = need;
  candidate.traffic = trial.traffic();
  return true;
}

void Search::hold(size_t number, std::unique_ptr<Trial> trial) {
  bool isLess = !held || candidates[number].need->bytes < candidates[heldNumber].need->bytes;
  if (!isLess || candidates[number].need->isExact)
    return;
  held = std::move(trial);
  heldNumber = number;
}

Search::Begun Search::beginAnswers(const Spec &spec, size_t group) {
  Begun begun;
  for (auto &[answered, zero] : listAnswers(spec)) {
    Candidate candidate{answered, zero, group, {}, {}, {}};
    if (std::unique_ptr<Trial> trial = begin(candidate)) {
      candidate.zero.traffic = trial->zeroTraffic();
      auto *it = llvm::upper_bound(begun, candidate.zero.traffic, [](Quantity traffic, const auto &other) {
        return traffic < other.first.zero.traffic;
      });
      begun.insert(it, {std::move(candidate), std::move(trial)});
    }
  }
  return begun;
}

bool Search::keepOnlyHopeless(const Spec &spec, Begun &begun) {
  auto savesMost = [](const auto &each) { return !each.first.zero.reducesPerStep && !each.first.zero.keepsGathered; };
  auto *saving = llvm::find_if(begun, savesMost);
  if (saving == begun.end())
    return false;
  std::optional<int64_t> least = saving->second->findLeast();
  if (!least || double(*least) <= kHopeless * double(memory))
    return false;
  (void)ask(saving->first, *saving->second, memory); // its bound is above the memory
  std::swap(begun.front(), *saving);
  begun.truncate(1);
  begun.front().first.standsFor = spec;
  return true;
}

void Search::add(const Spec &spec) {
  Begun begun = beginAnswers(spec, groups);
  bool isFound = begun.size() > 1 && !isAllExact && keepOnlyHopeless(spec, begun);
  addBegun(begun, isFound);
  ++groups;
}

void Search::addBegun(Begun &begun, bool isFound) {
  for (auto &[candidate, trial] : begun) {
    if (!isFound && !ask(candidate, *trial, isAllExact ? noLimit : memory))
      continue;
    isFound |= fits(candidate);
    candidates.push_back(std::move(candidate));
    if (candidates.back().need)
      hold(candidates.size() - 1, std::move(trial));
    trial.reset();
  }
}

const Candidate *Search::findNearest() {
  while (!candidates.empty()) {
    auto takes = [](const Candidate &candidate) { return candidate.need ? candidate.need->bytes : noLimit; };
    auto least = llvm::min_element(candidates, [&](auto &a, auto &b) { return takes(a) < takes(b); });
    if (least->standsFor) { // one of the others may take a little less
      Begun begun = beginAnswers(*least->standsFor, least->group);
      candidates.erase(least);
      held.reset();
      addBegun(begun, /*isFound=*/false);
      continue;
    }
    if (!least->need || least->need->isExact)
      return &*least;
    size_t number = least - candidates.begin();
    int64_t next = noLimit;
    for (const Candidate &other : candidates)
      if (&other != &*least)
        next = std::min(next, takes(other));
    std::unique_ptr<Trial> trial = held && heldNumber == number ? std::move(held) : begin(*least);
    held.reset();
    if (!trial || !ask(*least, *trial, next))
      candidates.erase(least);
    else if (!least->need->isExact)
      held = std::move(trial), heldNumber = number;
  }
  return nullptr;
}
