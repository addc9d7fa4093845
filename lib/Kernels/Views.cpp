// Views as strides. The reshape rule is that of dense tensor libraries: adjacent dimensions that form one run of memory
// can be split differently, others cannot.
#include "xlc/Kernels/Views.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t i = (int64_t)sizes.size() - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * sizes[i + 1];
  return strides;
}

MemoryLayout MemoryLayout::whole(Value root) {
  ArrayRef<int64_t> sizes = typeOf(root).getShape();
  return {root, 0, SmallVector<int64_t>(sizes), rowMajor(sizes)};
}

bool MemoryLayout::isContiguous() const {
  SmallVector<int64_t> expected = rowMajor(sizes);
  for (auto [size, stride, rowMajorStride] : llvm::zip(sizes, strides, expected))
    if (size != 1 && stride != rowMajorStride)
      return false;
  return true;
}

MemRefType MemoryLayout::getMemory() const {
  Type element = typeOf(root).getElementType();
  if (isContiguous())
    return MemRefType::get(sizes, element);
  return MemRefType::get(sizes, element, StridedLayoutAttr::get(root.getContext(), 0, strides));
}

std::optional<SmallVector<int64_t>> xlc::reshapeStrides(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                                                        ArrayRef<int64_t> to) {
  SmallVector<int64_t> result(to.size(), 1);
  if (sizes.empty() || llvm::is_contained(sizes, 0))
    return result;
  int64_t next = (int64_t)to.size() - 1;
  int64_t run = 1, covered = 1, step = strides.back();
  for (int64_t i = (int64_t)sizes.size() - 1; i >= 0; --i) {
    run *= sizes[i];
    bool endsRun = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != run * step);
    if (!endsRun)
      continue;
    while (next >= 0 && (covered < run || to[next] == 1)) {
      result[next] = covered * step;
      covered *= to[next--];
    }
    if (covered != run)
      return std::nullopt;
    if (i > 0)
      step = strides[i - 1];
    run = covered = 1;
  }
  return next == -1 ? std::optional(result) : std::nullopt;
}

std::optional<MemoryLayout> xlc::viewThrough(Operation *op, const MemoryLayout &from) {
  MemoryLayout to = from;
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
    auto strides = reshapeStrides(from.sizes, from.strides, typeOf(reshape.getY()).getShape());
    if (!strides)
      return std::nullopt;
    to.strides = *strides;
  } else if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    for (auto [i, dimension] : llvm::enumerate(transpose.getPermutation()))
      to.strides[i] = from.strides[dimension];
  } else if (auto slice = dyn_cast<graph::SliceOp>(op)) {
    if (llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride < 1; }))
      return std::nullopt;
    for (auto [i, offset, stride] : llvm::enumerate(slice.getOffsets(), slice.getStrides())) {
      to.offset += offset * from.strides[i];
      to.strides[i] *= stride;
    }
  } else {
    return std::nullopt;
  }
  to.sizes.assign(typeOf(op->getResult(0)).getShape().begin(), typeOf(op->getResult(0)).getShape().end());
  return to;
}

MemoryLayout xlc::findLayout(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<graph::View>())
    if (std::optional<MemoryLayout> layout = viewThrough(op, findLayout(op->getOperand(0))))
      return *layout;
  return MemoryLayout::whole(value);
}

bool xlc::isView(Value value) { return findLayout(value).root != value; }

bool xlc::isHeld(Operation *op) { return op->hasTrait<graph::Held>() || isa<dist::AxisIndexOp>(op); }
bool xlc::isOutsideKernels(Operation *op) { return isHeld(op) || isa<dist::DistDialect>(op->getDialect()); }
