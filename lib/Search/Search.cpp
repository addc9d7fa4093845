// See Search.h. The bound of a plan mostly shows whether it fits, and which one is closest to fitting: the candidate
// with the lowest number is planned next, until the lowest number is that of a complete plan.
#include "xlc/Search/Search.h"
#include "xlc/Search/ChooseZero.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <atomic>
#include <future>

using namespace xlc;

void Search::tellOnce(size_t group, const std::string &obstacle) {
  std::lock_guard lock(mutex);
  if (told.emplace(group, obstacle).second)
    tell(group, obstacle);
}

std::unique_ptr<Trial> Search::begin(const Planner &own, Candidate &candidate) {
  std::string obstacle;
  std::unique_ptr<Trial> trial = own(candidate.spec, obstacle);
  if (!trial)
    tellOnce(candidate.group, obstacle);
  return trial;
}

bool Search::ask(Candidate &candidate, Trial &trial, int64_t limit) {
  std::optional<int64_t> least = trial.findLeast(limit);
  std::optional<Need> need;
  if (least)
    need = *least > limit ? Need{*least, false} : trial.findNeed(limit);
  if (!need) {
    tellOnce(candidate.group, "no memory plan was found");
    return false;
  }
  candidate.need = need;
  if (need->isExact)
    candidate.traffic = trial.traffic();
  return true;
}

Search::Begun Search::beginAnswers(const Planner &own, const Spec &spec, size_t group) {
  Begun begun;
  for (auto &[answered, zero] : listAnswers(spec)) {
    Candidate candidate{answered, zero, group, {}, {}, {}, {}};
    if (std::unique_ptr<Trial> trial = begin(own, candidate)) {
      candidate.zero.traffic = trial->zeroTraffic();
      auto *it = llvm::upper_bound(begun, candidate.zero.traffic, [](Quantity traffic, const auto &other) {
        return traffic < other.first.zero.traffic;
      });
      begun.insert(it, {std::move(candidate), std::move(trial)});
    }
  }
  return begun;
}

bool Search::isHopeless(Trial &trial, int64_t memory) {
  double limit = kHopeless * double(memory);
  std::optional<int64_t> least = trial.findLeast(limit < double(noLimit) ? int64_t(limit) : noLimit);
  return least && double(*least) > limit;
}

bool Search::keepOnlyHopeless(const Spec &spec, Begun &begun) {
  auto savesMost = [](const auto &each) { return !each.first.zero.reducesPerStep && !each.first.zero.keepsGathered; };
  auto *saving = llvm::find_if(begun, savesMost);
  if (saving == begun.end())
    return false;
  if (!isHopeless(*saving->second, memory))
    return false;
  (void)ask(saving->first, *saving->second, memory); // its bound is above the memory
  std::swap(begun.front(), *saving);
  begun.truncate(1);
  begun.front().first.standsFor = spec;
  return true;
}

void Search::addWith(const Planner &own, size_t group, const Spec &spec) {
  Begun begun = beginAnswers(own, spec, group);
  bool isFound = begun.size() > 1 && !isAllExact && keepOnlyHopeless(spec, begun);
  addBegun(begun, isFound);
}

void Search::addAll(llvm::ArrayRef<std::pair<size_t, Spec>> specs, const Planners &planners) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    Planner own = planners.make();
    for (size_t i = next++; i < specs.size(); i = next++)
      addWith(own, specs[i].first, specs[i].second);
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < std::min<size_t>(planners.count, specs.size()); ++i)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void> &other : others)
    other.get();
}

void Search::addBegun(Begun &begun, bool isFound) {
  for (auto &[candidate, trial] : begun) {
    if (!isFound && !ask(candidate, *trial, isAllExact ? noLimit : memory))
      continue;
    isFound |= fits(candidate);
    if (candidate.need && !candidate.need->isExact)
      candidate.trial = std::move(trial);
    trial.reset();
    insert(std::move(candidate));
  }
}

void Search::insert(Candidate candidate) {
  std::lock_guard lock(mutex);
  auto held = llvm::find_if(candidates, [](const Candidate &other) { return other.trial != nullptr; });
  if (candidate.trial && held != candidates.end()) {
    bool isLess = candidate.need->bytes < held->need->bytes;
    (isLess ? held->trial : candidate.trial).reset();
  }
  auto isAfter = [&](const Candidate &other) { return other.group > candidate.group; };
  candidates.insert(llvm::find_if(candidates, isAfter), std::move(candidate));
}

const Candidate *Search::findNearest() {
  while (!candidates.empty()) {
    auto takes = [](const Candidate &candidate) { return candidate.need ? candidate.need->bytes : noLimit; };
    auto least = llvm::min_element(candidates, [&](auto &a, auto &b) { return takes(a) < takes(b); });
    if (least->standsFor) { // one of the others may take a little less
      Begun begun = beginAnswers(planner, *least->standsFor, least->group);
      candidates.erase(least);
      for (Candidate &other : candidates)
        other.trial.reset();
      addBegun(begun, /*isFound=*/false);
      continue;
    }
    if (!least->need || least->need->isExact)
      return &*least;
    int64_t next = noLimit;
    for (const Candidate &other : candidates)
      if (&other != &*least)
        next = std::min(next, takes(other));
    std::shared_ptr<Trial> trial = std::exchange(least->trial, nullptr);
    for (Candidate &other : candidates)
      other.trial.reset();
    if (!trial)
      trial = begin(planner, *least);
    if (!trial || !ask(*least, *trial, next))
      candidates.erase(least);
    else if (!least->need->isExact)
      least->trial = std::move(trial);
  }
  return nullptr;
}
