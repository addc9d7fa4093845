// An oracle for the steps between two layouts: all layouts of a small matrix are nodes, everything that one collective
// or a local slice can do is an edge with its bytes, and the shortest path is found by relaxing all edges. What
// findPath finds by its few rules costs the same.
#include "Samples.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

namespace {

/// Of so many ranks, elements that each receives of `count` when they are exchanged once.
int64_t share(int64_t count, int64_t ranks) { return count - count / ranks; }

class Oracle {
public:
  Oracle(ArrayRef<int64_t> shape, int64_t tp) : shape(shape), tp(tp), layouts(layoutsOf(shape, tp)) {}

  /// Elements that a rank receives on the way from one layout to each; -1: there is no way.
  std::vector<int64_t> distances(const Layout &from) {
    std::vector<int64_t> found(layouts.size(), -1);
    found[llvm::find(layouts, from) - layouts.begin()] = 0;
    for (bool isBetter = true; isBetter;) {
      isBetter = false;
      for (size_t a = 0; a < layouts.size(); ++a)
        for (size_t b = 0; b < layouts.size(); ++b) {
          std::optional<int64_t> edge = found[a] < 0 ? std::nullopt : inOneStep(layouts[a], layouts[b]);
          if (edge && (found[b] < 0 || found[a] + *edge < found[b]))
            found[b] = found[a] + *edge, isBetter = true;
        }
    }
    return found;
  }

  ArrayRef<int64_t> shape;
  int64_t tp;
  std::vector<Layout> layouts;

private:
  int64_t sizeOf(const Layout &layout) {
    int64_t count = 1;
    for (int64_t size : localShape(shape, layout))
      count *= size;
    return count;
  }

  std::optional<int64_t> inOneStep(const Layout &a, const Layout &b) {
    if (b.isPartial)
      return std::nullopt;
    bool isSameCut = a.dim == b.dim && a.outer == b.outer;
    if (a.isPartial) { // all_reduce, or reduce_scatter to a piece for each rank
      if (a.isSameSplit(b))
        return 2 * share(sizeOf(a), tp / a.parts);
      bool isScattered = b.parts == tp && (!a.isSplit() || isSameCut);
      return isScattered ? std::optional(share(sizeOf(a), tp / a.parts)) : std::nullopt;
    }
    if (!a.isSplit() || (b.isSplit() && isSameCut && b.parts % a.parts == 0))
      return 0; // slice
    if (!b.isSplit() || (isSameCut && a.parts % b.parts == 0))
      return share(sizeOf(b), a.parts / b.parts); // all_gather
    bool isTurned = a.dim != b.dim && a.parts == b.parts;
    return isTurned ? std::optional(share(sizeOf(a), a.parts)) : std::nullopt;
  }
};

class ShortestPath : public testing::TestWithParam<std::tuple<int64_t, std::vector<int64_t>>> {};

// Two ways findPath does not take, so its own may cost more there, at most a sum and a gather of the whole: from some
// runs of a dimension to others, and from a sum to runs, by way of another cut. All sizes divide evenly.
TEST_P(ShortestPath, CostsWhatIsFound) {
  auto [tp, shape] = GetParam();
  MLIRContext context;
  auto type = RankedTensorType::get(shape, IntegerType::get(&context, 8));
  Oracle oracle(shape, tp);
  for (const Layout &from : oracle.layouts) {
    std::vector<int64_t> shortest = oracle.distances(from);
    for (auto [to, distance] : llvm::zip(oracle.layouts, shortest)) {
      auto path = findPath(shape, from, to, tp);
      ASSERT_EQ(bool(path), distance >= 0);
      int64_t bytes = 0;
      for (const Step &step : path ? *path : SmallVector<Step, 3>())
        bytes += step.bytes(type, tp);
      bool hasRuns = from.outer > 1 || to.outer > 1;
      bool mayDetour =
          hasRuns && ((from.dim == to.dim && from.outer != to.outer) || (from.isPartial && !from.isSplit()));
      int64_t whole = share(type.getNumElements(), tp), most = mayDetour ? (from.isPartial ? 3 : 1) * whole : distance;
      EXPECT_TRUE(bytes >= distance && bytes <= std::max<int64_t>(most, 0))
          << bytes << " instead of " << distance << ": dim " << from.dim << " outer " << from.outer << " parts "
          << from.parts << " partial " << from.isPartial << " to dim " << to.dim << " outer " << to.outer << " parts "
          << to.parts << " on " << tp;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShortestPath,
                         testing::Combine(testing::Values(2, 4),
                                          testing::Values(std::vector<int64_t>{16, 32}, std::vector<int64_t>{16, 4})));

} // namespace
