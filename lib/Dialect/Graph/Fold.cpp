// Folders of the `graph` dialect: they remove shape ops that have no effect or repeat another one.
#include "xlc/Dialect/Graph/Graph.h"

using namespace mlir;
using namespace xlc::graph;

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (auto producer = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(producer.getX());
    return getY();
  }
  return getX().getType() == getY().getType() ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool isIdentity =
      llvm::all_of(llvm::enumerate(getPermutation()), [](auto pair) { return (int64_t)pair.index() == pair.value(); });
  if (isIdentity)
    return getX();
  auto producer = getX().getDefiningOp<TransposeOp>();
  if (!producer)
    return {};
  SmallVector<int64_t> composed;
  for (int64_t dimension : getPermutation())
    composed.push_back(producer.getPermutation()[dimension]);
  setPermutation(composed);
  getXMutable().assign(producer.getX());
  return getY();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool isWhole = getX().getType() == getY().getType() &&
                 llvm::all_of(getOffsets(), [](int64_t offset) { return offset == 0; }) &&
                 llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; });
  return isWhole ? OpFoldResult(getX()) : OpFoldResult();
}
