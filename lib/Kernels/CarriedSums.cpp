// Selects the kernel over rows that also sums columns: it holds their elements in registers, so the sum reads no
// memory.
//
//     dx = layer_norm_backward x, ..., dy    reads x and dy        dweight = sum over rows of dy * normalized(x)
//     y = dx + residual                      makes y               dbias = sum over rows of y
#include "KernelGroups.h"
#include "xlc/Kernels/SplitReductions.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

/// What it is before it is widened and its rows are cut or joined.
static Value skipRowViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    bool keepsRows =
        reshape && !shapeOf(reshape.getX()).empty() && shapeOf(reshape.getX()).back() == shapeOf(value).back();
    if (!keepsRows && !isWidening(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static int64_t countRows(ArrayRef<int64_t> domain) {
  return std::accumulate(domain.begin(), domain.end() - 1, int64_t(1), std::multiplies<>());
}

/// Whether kernel `index`, over rows, has the row's elements, or all that there is of them: it reads or makes them.
bool KernelGroups::isAtHand(Value value, int64_t index) {
  const KernelGroup &group = groups[index];
  bool isRow = shapeOf(value).size() > 1 && shapeOf(value).back() == group.domain.back();
  value = skipRowViews(value);
  if (isMadeIn(value, index))
    return groupOf.contains(value.getDefiningOp()) && !carried.contains(value.getDefiningOp());
  auto reads = [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) { return skipRowViews(operand) == value; });
  };
  return !isRow || llvm::any_of(group.ops, reads);
}

int64_t KernelGroups::findCarrier(Operation *op, const KernelGroup &fresh, int64_t latest) {
  if (fresh.kind != exec::KernelKind::columns || !target.carriesSums(fresh.domain.back()) ||
      chooseCarriedChunks(countRows(fresh.domain), fresh.domain.back(), target.fewestSummed()) == 1)
    return -1;
  for (int64_t i = groups.size() - 1; i >= std::max<int64_t>(latest, 0); --i) {
    const KernelGroup &group = groups[i];
    bool areSameRows = group.kind == exec::KernelKind::rows && group.domain.back() == fresh.domain.back() &&
                       countRows(group.domain) == countRows(fresh.domain);
    if (areSameRows && llvm::all_of(op->getOperands(), [&](Value operand) { return isAtHand(operand, i); }))
      return i;
  }
  return -1;
}
