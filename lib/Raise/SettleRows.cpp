// Handles rows of scores that are minus infinity throughout: their softmax is NaN, and a later guard replaces it by
// zero. The gradient is still NaN, since it multiplies the replaced NaN by the zero that flows back. So the row is
// replaced before the softmax as well as after it.
#include "SettleRows.h"

#include "EraseDead.h"
#include "xlc/Raise/MatchValues.h"
#include "xlc/Raise/Raise.h"
#include <cmath>

using namespace mlir;
using namespace xlc;
using graph::Formula;

namespace xlc {
#define GEN_PASS_DEF_SETTLEROWSPASS
#include "xlc/Raise/Passes.h.inc"
} // namespace xlc

HiddenScores xlc::settleRows(Formula &f, Value scores) {
  Value largest = f.reduceRows(graph::Reduction::max, scores);
  Value hidden = f.isEqual(largest, -INFINITY), along = f.alongRows(hidden, scores);
  return {f.select(along, f.number(0, scores), scores), hidden, along};
}

namespace {

/// The softmax that `select` guards; null where it guards none.
graph::SoftmaxOp findGuarded(graph::SelectOp select) {
  auto isNan = select.getCondition().getDefiningOp<graph::IsNanOp>();
  bool isGuard = isNan && isNan.getX() == select.getB() && findSplat(select.getA()) == 0.0;
  return isGuard ? select.getB().getDefiningOp<graph::SoftmaxOp>() : graph::SoftmaxOp();
}

struct SettleRows : xlc::impl::SettleRowsPassBase<SettleRows> {
  void runOnOperation() override {
    SmallVector<graph::SelectOp> guards;
    getOperation().walk([&](graph::SelectOp select) {
      if (findGuarded(select))
        guards.push_back(select);
    });
    for (graph::SelectOp guard : guards) {
      Formula f(guard);
      HiddenScores settled = settleRows(f, findGuarded(guard).getX());
      Value p = graph::SoftmaxOp::create(f.b, f.loc, guard.getType(), settled.scores);
      guard.getY().replaceAllUsesWith(f.select(settled.along, f.number(0, p), p));
    }
    eraseDead(getOperation(), !guards.empty());
  }
};

} // namespace
