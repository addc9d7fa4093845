// First fit under several orders, then hill climbing on the best order.
//
// No single order is best for all programs. Large buffers first leaves small holes for small buffers; long-lived first
// is optimal where lifetimes nest, as residuals of forward and backward do; by time is the order of an allocator at run
// time. The height of the arena is then determined by a chain of buffers, each placed on top of the previous one.
// Placing one of the chain earlier often helps, and the change is kept as long as the arena does not grow.
#include "xlc/Memory/Placement.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "FreeSpace.h"
#include "SteadyState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace xlc {
namespace {

/// The intervals that are not live all the time, over moments that are numbered densely.
///
/// Two intervals meet exactly when one begins while the other is live, so only beginnings count as moments.
struct Problem {
  ArrayRef<Interval> intervals;
  std::vector<int> first, last; ///< dense moments, per interval
  std::vector<size_t> movable;  ///< indices into `intervals`
  int moments = 0;
  int64_t bottom = 0; ///< where the movable ones begin
  int64_t grain = 0;  ///< bytes; all offsets are multiples of it
  Placement fixed;    ///< the others are placed

  std::vector<size_t> partner; ///< the other interval that stands at the same offset; the interval itself: none

  Problem(ArrayRef<Interval> intervals, ArrayRef<std::pair<size_t, size_t>> tied);
  int64_t duration(size_t i) const { return int64_t(last[i]) - first[i] + 1; }
  /// Nothing can lie between the end of an interval at `offset` and this: without such gaps neighbours are one range.
  int64_t endOf(size_t i, int64_t offset) const { return alignTo(offset + intervals[i].size, grain); }
  bool meet(size_t a, size_t b) const {
    auto overlap = [&](size_t a, size_t b) { return first[a] <= last[b] && first[b] <= last[a]; };
    return overlap(a, b) || overlap(partner[a], b) || overlap(a, partner[b]) || overlap(partner[a], partner[b]);
  }
};

Problem::Problem(ArrayRef<Interval> intervals, ArrayRef<std::pair<size_t, size_t>> tied) : intervals(intervals) {
  for (size_t i = 0; i < intervals.size(); ++i)
    partner.push_back(i);
  for (auto [one, other] : tied)
    partner[one] = other, partner[other] = one;
  std::vector<int> beginnings;
  for (const Interval &interval : intervals) {
    beginnings.push_back(interval.first);
    grain = std::gcd(grain, interval.alignment);
  }
  llvm::sort(beginnings);
  beginnings.erase(std::unique(beginnings.begin(), beginnings.end()), beginnings.end());
  moments = int(beginnings.size());
  fixed.offsets.resize(intervals.size());
  for (auto [i, interval] : enumerate(intervals)) {
    first.push_back(int(llvm::lower_bound(beginnings, interval.first) - beginnings.begin()));
    last.push_back(int(llvm::upper_bound(beginnings, interval.last) - beginnings.begin()) - 1);
    if (interval.size == 0)
      continue;
    if (duration(i) < moments) {
      if (partner[i] >= i) // it is placed with the first of both
        movable.push_back(i);
      continue;
    }
    fixed.offsets[i] = alignTo(bottom, interval.alignment);
    bottom = fixed.offsets[i] + interval.size;
  }
  fixed.height = bottom;
}

/// The climb ends where so many attempts, and as many again as it had when it last came lower, find nothing: alignment
/// often keeps intervals from the bound for good.
constexpr int kVainAttempts = 1000;

using Order = std::vector<size_t>;

Placement placeInOrder(const Problem &problem, const Order &order, FreeSpace &space) {
  Placement placement = problem.fixed;
  space.clear();
  for (size_t i : order) {
    const Interval &interval = problem.intervals[i];
    size_t partner = problem.partner[i];
    FreeSpace::Moments both[] = {{problem.first[i], problem.last[i]}, {problem.first[partner], problem.last[partner]}};
    auto spans = ArrayRef(both).take_front(partner == i ? 1 : 2);
    int64_t offset = space.findLowest(spans, interval.size, interval.alignment, problem.bottom);
    if (offset > kLargestArena - interval.size) {
      placement.height = Placement::none;
      return placement;
    }
    for (FreeSpace::Moments span : spans)
      space.take(span.first, span.last, offset, problem.endOf(i, offset));
    placement.offsets[i] = placement.offsets[partner] = offset;
    placement.height = std::max(placement.height, offset + interval.size);
  }
  return placement;
}

/// Sorts by falling `key`; equal ones by falling size, then as they came.
template <typename Key> Order sortedBy(const Problem &problem, Key key) {
  Order order = problem.movable;
  auto rank = [&](size_t i) { return std::tuple(-key(i), -problem.intervals[i].size, i); };
  llvm::sort(order, [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return order;
}

/// With so many intervals (a pipeline stage with its micro-batches in flight) an attempt takes a good part of the
/// budget: the order that needs fewest steps goes first, it ends the search where it is nearly as good as can be, and
/// nothing is climbed, since a few attempts find nothing.
constexpr size_t kMany = 10000;
/// With so few the search has more of them: a gap is a larger part of such an arena.
constexpr size_t kFew = 1000;
constexpr int64_t kPatience = 3;
constexpr double kNearlyAsGood = 1.02;

constexpr size_t kOrders = 5;

/// The one that is tried as number `attempt`.
Order startingOrder(const Problem &problem, size_t attempt) {
  auto size = [&](size_t i) { return problem.intervals[i].size; };
  if (problem.movable.size() > kMany && attempt < 2)
    attempt = 1 - attempt; // largest first
  switch (attempt) {
  case 0:
    return sortedBy(problem, [&](size_t i) { return problem.duration(i); });
  case 1:
    return sortedBy(problem, [&](size_t i) { return size(i); });
  case 2:
    return sortedBy(problem, [&](size_t i) { return double(size(i)) * double(problem.duration(i)); });
  case 3:
    return sortedBy(problem, [&](size_t i) { return -problem.first[i]; });
  default:
    return sortedBy(problem, [&](size_t i) { return problem.last[i]; });
  }
}

/// One of the chain of intervals that reaches the top, each standing on the next: a random one, the upper ones
/// more often. Returns its position in `order`.
size_t pickFromChain(const Problem &problem, const Placement &placement, const Order &order, std::minstd_rand &random) {
  auto end = [&](size_t i) { return placement.offsets[i] + problem.intervals[i].size; };
  std::vector<size_t> candidates; // that reach the top, then that hold up the one picked
  size_t picked = 0;
  for (size_t position = 0; position < order.size(); ++position)
    if (end(order[position]) == placement.height)
      candidates.push_back(position);
  while (!candidates.empty()) {
    picked = candidates[random() % candidates.size()];
    candidates.clear();
    if (random() % 2)
      break;
    int64_t foot = placement.offsets[order[picked]];
    for (size_t position = 0; position < order.size(); ++position)
      if (end(order[position]) <= foot && foot - end(order[position]) < problem.intervals[order[picked]].alignment &&
          problem.meet(order[position], order[picked]))
        candidates.push_back(position);
  }
  return picked;
}

/// Moves an interval of the chain before a random one of those that it meets and that were placed earlier.
/// Nothing changes where there is none.
void raiseOne(const Problem &problem, const Placement &placement, Order &order, std::minstd_rand &random) {
  size_t picked = pickFromChain(problem, placement, order, random);
  std::vector<size_t> earlier;
  for (size_t position = 0; position < picked; ++position)
    if (problem.meet(order[position], order[picked]))
      earlier.push_back(position);
  if (earlier.empty())
    return;
  auto begin = order.begin();
  std::rotate(begin + earlier[random() % earlier.size()], begin + picked, begin + picked + 1);
}

} // namespace

/// Places intervals of which some are tied in pairs, within `budget` steps.
static Placement place(ArrayRef<Interval> intervals, ArrayRef<std::pair<size_t, size_t>> tied, int64_t enough,
                       int64_t budget) {
  Quantity least = lowerBound(intervals);
  if (least > kLargestArena)
    return {std::vector<int64_t>(intervals.size(), 0), Placement::none};
  int64_t bound = std::max(least.clamp(), enough);
  Problem problem(intervals, tied);
  if (problem.movable.empty())
    return problem.fixed;
  Placement best;
  Order bestOrder;
  int64_t steps = budget;
  bool isSpent = false;
  FreeSpace space(problem.moments, steps);
  for (size_t attempt = 0; attempt < kOrders; ++attempt) {
    Order order = startingOrder(problem, attempt);
    Placement placement = placeInOrder(problem, order, space);
    bool ranOut = steps < 0; // most of it was stacked unseen: the next order gets a budget of its own
    if (bestOrder.empty() || placement.height < best.height)
      std::tie(best, bestOrder) = std::pair(std::move(placement), std::move(order));
    isSpent |= steps <= 0;
    bool isGood = problem.movable.size() > kMany && double(best.height) <= kNearlyAsGood * double(least);
    if (best.height <= bound || isGood || (isSpent && !ranOut))
      return best;
    if (ranOut)
      steps = budget;
  }
  if (isSpent || best.height == Placement::none || problem.movable.size() > kMany)
    return best;
  std::minstd_rand random(1);
  for (int attempt = 0, found = 0; attempt - 2 * found < kVainAttempts && steps > 0 && best.height > bound; ++attempt) {
    Order order = bestOrder;
    for (size_t moves = 1 + random() % 3; moves > 0; --moves)
      raiseOne(problem, best, order, random);
    Placement placement = placeInOrder(problem, order, space);
    if (placement.height < best.height)
      found = attempt;
    if (placement.height <= best.height)
      std::tie(best, bestOrder) = std::pair(std::move(placement), std::move(order));
  }
  return best;
}

Placement placeIntervals(ArrayRef<Interval> intervals, const PlacementOptions &options) {
  std::optional<SteadyState> steady =
      intervals.size() > kMany ? findSteadyState(intervals) : std::optional<SteadyState>();
  if (!steady)
    return place(intervals, {}, options.enough, intervals.size() <= kFew ? kPatience * options.budget : options.budget);
  Placement placement = place(steady->shorter, steady->tied, options.enough, options.budget);
  placement.offsets = steady->extend(placement.offsets);
  if (placement.height <= options.enough || double(placement.height) <= kNearlyAsGood * double(lowerBound(intervals)))
    return placement;
  // What must stand where its predecessor stood may leave gaps.
  Placement whole = place(intervals, {}, options.enough, options.budget);
  return whole.height < placement.height ? whole : placement;
}

} // namespace xlc
