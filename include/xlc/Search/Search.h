// One loop over specs: which of several plans fit, and which one takes least.
//
//   spec ── answers to what it leaves open ──> trials, the one that moves least first
//                                                 │ the bytes that are live at the fullest moment: no plan takes less
//                                                 v
//                               more than the memory? ── then nothing is placed, unless this may be the nearest
//
// A trial is worked out as far as the question takes it. What a plan is made of is the planner's business: this room
// knows specs and numbers of bytes.
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

/// Bytes of the fullest rank: those of the plan, or a number that is at most that.
struct Need {
  int64_t bytes = 0;
  bool isExact = false;
};

/// A plan that is worked out step by step. Where one of the steps is not possible, nothing is returned.
class Trial {
public:
  virtual ~Trial() = default;

  /// Bytes per step over dp for parameters and gradients, of the rank that reads most.
  virtual Quantity zeroTraffic() = 0;
  /// What the fullest rank takes at least. Where that is more than `limit`, no more is worked out than shows it.
  virtual std::optional<int64_t> findLeast(int64_t limit) = 0;
  /// What it takes; not exact only where that is known to be more than `limit`. After findLeast.
  virtual std::optional<Need> findNeed(int64_t limit) = 0;
  /// Bytes per step of the rank that reads most. After an exact need.
  virtual Quantity traffic() = 0;
};

/// Begins a plan for a spec that leaves nothing open; null where it cannot be planned, and then `obstacle` says why.
using Planner = std::function<std::unique_ptr<Trial>(const Spec &, std::string &obstacle)>;

/// Planners that work beside each other: each is made and used by one thread, and its trials by one thread at a time.
struct Planners {
  std::function<Planner()> make;
  unsigned count = 1;
};

/// A spec with an answer to each question that it left open, and what its plan takes.
struct Candidate {
  Spec spec;
  ZeroTrial zero;
  size_t group = 0;              ///< the number of the spec that it answers
  std::optional<Need> need;      ///< none: not asked, since one of its group that moves no more fits
  Quantity traffic;              ///< known together with the need, where that is exact
  std::optional<Spec> standsFor; ///< where only this answer was asked: what it answers
  std::shared_ptr<Trial> trial;  ///< its plan, where it takes least so far and is not exact; one is kept, not all
};

class Search {
public:
  /// Whether a plan takes so much more than the memory that no other answer to what a spec leaves open is worth asking.
  static bool isHopeless(Trial &trial, int64_t memory);
  static constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

  /// `memory`: bytes of a rank. What does not fit is placed only where `isAllExact`, or by findNearest. What cannot be
  /// planned is told to `tell`: the number of its group, and why.
  Search(Planner planner, int64_t memory, bool isAllExact, std::function<void(size_t, const std::string &)> tell)
      : planner(std::move(planner)), memory(memory), isAllExact(isAllExact), tell(std::move(tell)) {}

  /// Plans the answers to what `spec`, which has that number, leaves open, the one that moves least first, up to the first
  /// that fits.
  void add(size_t group, const Spec &spec) { addWith(planner, group, spec); }
  /// As add, of all of them, by several threads where there are several planners.
  void addAll(llvm::ArrayRef<std::pair<size_t, Spec>> specs, const Planners &planners);

  /// All that could be planned; groups by their numbers, each by traffic.
  llvm::ArrayRef<Candidate> getCandidates() const { return candidates; }
  bool fits(const Candidate &candidate) const {
    return candidate.need && candidate.need->isExact && candidate.need->bytes <= memory;
  }
  /// Where none fits: the candidate that takes least, exactly; the first of those that take as much. Null: there is none.
  const Candidate *findNearest();

private:
  /// A plan whose lower bound is more than this times the memory is hopeless.
  static constexpr double kHopeless = 1.05;
  using Begun = llvm::SmallVector<std::pair<Candidate, std::unique_ptr<Trial>>, 4>;

  void addWith(const Planner &own, size_t group, const Spec &spec);
  /// The answers to what `spec` leaves open that can be planned, by traffic.
  Begun beginAnswers(const Planner &own, const Spec &spec, size_t group);
  /// True where even the answer that saves most memory is hopeless: then it is asked, and the others are dropped.
  bool keepOnlyHopeless(const Spec &spec, Begun &begun);
  /// Makes them candidates. Each is asked until one fits; none where `isFound` says that all is known.
  void addBegun(Begun &begun, bool isFound);
  /// Tells it, once: findNearest begins some answers again.
  void tellOnce(size_t group, const std::string &obstacle);
  /// Asks a trial; false where it turns out to be impossible.
  bool ask(Candidate &candidate, Trial &trial, int64_t limit);
  std::unique_ptr<Trial> begin(const Planner &own, Candidate &candidate);
  void insert(Candidate candidate);

  Planner planner;
  int64_t memory;
  bool isAllExact;
  std::function<void(size_t, const std::string &)> tell;
  std::mutex mutex; ///< of what follows
  std::set<std::pair<size_t, std::string>> told;
  std::vector<Candidate> candidates;
};

} // namespace xlc

#endif
