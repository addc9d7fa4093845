// Constants that an exporter computed from the size of the batch: they have the same numbers for each row, or the
// positions of the rows in a table of all rows. Positions, masks and slopes of attention have this form, and indices of
// GatherND.
#include "BatchRows.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using shard::Layout;

/// Elements as integers of their bits; none for a large constant.
static std::optional<SmallVector<int64_t>> readBits(DenseElementsAttr elements) {
  constexpr int64_t largest = 1 << 22;
  if (elements.getNumElements() > largest)
    return std::nullopt;
  SmallVector<int64_t> bits;
  bits.reserve(elements.getNumElements());
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt().getSExtValue());
  else
    for (const APInt &value : elements.getValues<APInt>())
      bits.push_back(value.getSExtValue());
  return bits;
}

/// Whether along `layout` each row has what the row before has, plus `step`.
static bool isStepping(ArrayRef<int64_t> values, ArrayRef<int64_t> shape, const Layout &layout, int64_t step) {
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(layout.dim))
    inner *= size;
  int64_t block = inner / layout.parts;
  for (int64_t i = 0; i < int64_t(values.size()); ++i)
    if (i % inner >= block && values[i] != values[i - block] + step)
      return false;
  return true;
}

uint64_t onnx::findUniform(DenseElementsAttr elements) {
  if (elements.isSplat() || elements.empty())
    return kAllDimensions;
  std::optional<SmallVector<int64_t>> values = readBits(elements);
  ArrayRef<int64_t> shape = elements.getType().getShape();
  uint64_t uniform = 0;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (values && (size == 1 || isStepping(*values, shape, {int64_t(dim), 1, size, false}, 0)))
      uniform |= uint64_t(1) << dim;
  return uniform;
}

std::optional<Layout> onnx::findRows(DenseElementsAttr elements, int64_t rows, int64_t step) {
  std::optional<SmallVector<int64_t>> values = readBits(elements);
  ArrayRef<int64_t> shape = elements.getType().getShape();
  std::optional<Layout> found;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Layout layout = Layout::split(dim, 1, rows);
    if (!values || size % rows != 0 || !isStepping(*values, shape, layout, step))
      continue;
    if (found)
      return std::nullopt; // rows against rows
    found = layout;
  }
  if (!found || step == 0)
    return found;
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(found->dim))
    inner *= size;
  for (int64_t i = 0; i < int64_t(values->size()); ++i)
    if (i % inner < inner / rows && ((*values)[i] < 0 || (*values)[i] >= step))
      return std::nullopt; // the first row takes from others
  return found;
}
