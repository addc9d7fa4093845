// One loop over specs that finds which of several plans fit, and which is the smallest.
//
//   spec ── answers to its open choices ──> trials, in order of bytes moved
//                                                 │ live bytes at the peak, a lower bound for every plan
//                                                 v
//                               more than the memory? ── buffers are placed only if the trial may be the nearest
//
// A trial is computed only as far as the result is needed. How a plan is made is private to the planner: this folder
// depends only on specs and numbers of bytes.
#ifndef XLC_SEARCH_SEARCH_H
#define XLC_SEARCH_SEARCH_H

#include "xlc/Search/ZeroChoice.h"
#include "xlc/Spec/Spec.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>

namespace xlc {

/// Bytes of the fullest rank: those of the plan, or a lower bound.
struct Need {
  int64_t bytes = 0;
  bool isExact = false;
};

/// A plan that is computed in steps. A function returns nothing if its step is not possible.
class Trial {
public:
  virtual ~Trial() = default;

  /// Bytes per step over dp for parameters and gradients, of the rank that reads most.
  virtual Quantity zeroTraffic() = 0;
  /// A lower bound for the bytes of the fullest rank. If it exceeds `limit`, the computation stops once this is known.
  virtual std::optional<int64_t> findLeast(int64_t limit) = 0;
  /// The bytes of the fullest rank; not exact only if they are known to exceed `limit`. Call after findLeast.
  virtual std::optional<Need> findNeed(int64_t limit) = 0;
  /// Bytes per step of the rank that reads most. Call after an exact need.
  virtual Quantity traffic() = 0;
};

/// Starts a plan for a spec without open choices; null if it cannot be planned, with the reason in `obstacle`.
using Planner = std::function<std::unique_ptr<Trial>(const Spec &, std::string &obstacle)>;

/// Planners that work in parallel: each is created and used by one thread, and its trials by one thread at a time.
struct Planners {
  std::function<Planner()> make;
  unsigned count = 1;
};

/// A spec with an answer to each of its open choices, and the requirements of its plan.
struct Candidate {
  Spec spec;
  ZeroTrial zero;
  size_t group = 0;              ///< the number of the spec that it answers
  std::optional<Need> need;      ///< none: not computed, since a plan of the group that moves no more bytes fits
  Quantity traffic;              ///< set together with `need`, if that is exact
  std::optional<Spec> standsFor; ///< if only this answer was tried: the spec that it answers
  std::shared_ptr<Trial> trial;  ///< the plan, if it is the smallest so far and not exact; only one plan is kept
};

class Search {
public:
  /// Whether a plan exceeds the memory by so much that the other answers to the open choices need not be tried.
  static bool isHopeless(Trial &trial, int64_t memory);
  static constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

  /// `memory`: bytes of a rank. Buffers of plans that do not fit are placed only if `isAllExact` is set, or by
  /// findNearest. Reports plans that are not possible to `tell`: the number of the group, and the reason.
  Search(Planner planner, int64_t memory, bool isAllExact, std::function<void(size_t, const std::string &)> tell)
      : planner(std::move(planner)), memory(memory), isAllExact(isAllExact), tell(std::move(tell)) {}

  /// Plans the answers to the open choices of `spec`, whose number is `group`, in order of bytes moved, up to the first
  /// that fits.
  void add(size_t group, const Spec &spec) { addWith(planner, group, spec); }
  /// Calls add for all specs, from several threads if there are several planners.
  void addAll(llvm::ArrayRef<std::pair<size_t, Spec>> specs, const Planners &planners);

  /// All specs that could be planned, ordered by group and within a group by traffic.
  llvm::ArrayRef<Candidate> getCandidates() const { return candidates; }
  bool fits(const Candidate &candidate) const {
    return candidate.need && candidate.need->isExact && candidate.need->bytes <= memory;
  }
  /// If none fits: the smallest candidate, with its exact size; of several, the first. Null if there is no candidate.
  const Candidate *findNearest();

private:
  /// A plan is hopeless if its lower bound exceeds the memory by this factor.
  static constexpr double kHopeless = 1.05;
  using Begun = llvm::SmallVector<std::pair<Candidate, std::unique_ptr<Trial>>, 4>;

  void addWith(const Planner &own, size_t group, const Spec &spec);
  /// The answers to the open choices of `spec` that can be planned, by traffic.
  Begun beginAnswers(const Planner &own, const Spec &spec, size_t group);
  /// Returns true if even the answer that saves most memory is hopeless. Then only this answer is computed, and the
  /// others are dropped.
  bool keepOnlyHopeless(const Spec &spec, Begun &begun);
  /// Turns them into candidates. Computes each until one fits; none if `isFound` states that everything is known.
  void addBegun(Begun &begun, bool isFound);
  /// Reports an obstacle once, because findNearest starts some answers again.
  void tellOnce(size_t group, const std::string &obstacle);
  /// Computes a trial; false if it turns out to be impossible.
  bool ask(Candidate &candidate, Trial &trial, int64_t limit);
  std::unique_ptr<Trial> begin(const Planner &own, Candidate &candidate);
  void insert(Candidate candidate);

  Planner planner;
  int64_t memory;
  bool isAllExact;
  std::function<void(size_t, const std::string &)> tell;
  std::mutex mutex; ///< guards the members below
  std::set<std::pair<size_t, std::string>> told;
  std::vector<Candidate> candidates;
};

} // namespace xlc

#endif
