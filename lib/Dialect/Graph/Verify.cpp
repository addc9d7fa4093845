// Verifiers of the `graph` dialect. A message states the rule, then both values.
#include "VerifyShapes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xlc/Dialect/Graph/Update.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace xlc::graph;

LogicalResult xlc::graph::expectShape(Operation *op, StringRef what, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return success();
  return op->emitOpError() << what << " must have shape [" << shape << "], but has [" << shapeOf(value) << "]";
}

static LogicalResult expectDimension(Operation *op, int64_t dimension, int64_t rank) {
  if (dimension >= 0 && dimension < rank)
    return success();
  return op->emitOpError() << "dimension " << dimension << " is out of range for rank " << rank;
}

LogicalResult ScaleOp::verify() { return getDenominator() != 0 ? success() : emitOpError("denominator is zero"); }

LogicalResult IotaOp::verify() { return expectDimension(*this, getDimension(), typeOf(getY()).getRank()); }

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getY());
  bool fits = from.size() <= to.size() && typeOf(getX()).getElementType() == typeOf(getY()).getElementType();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[from.size() - 1 - i] == to[to.size() - 1 - i] || from[from.size() - 1 - i] == 1;
  return fits ? success() : emitOpError() << "[" << from << "] does not broadcast to [" << to << "]";
}

LogicalResult ReshapeOp::verify() {
  if (typeOf(getX()).getNumElements() == typeOf(getY()).getNumElements() &&
      typeOf(getX()).getElementType() == typeOf(getY()).getElementType())
    return success();
  return emitOpError() << "cannot reshape " << getX().getType() << " to " << getY().getType();
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> permutation = getPermutation();
  if (!isPermutationVector(permutation) || permutation.size() != shapeOf(getX()).size())
    return emitOpError() << "[" << permutation << "] is not a permutation of the dimensions of [" << shapeOf(getX())
                         << "]";
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(shapeOf(getX())[dimension]);
  return expectShape(*this, "result", getY(), shape);
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getY());
  if (getOffsets().size() != from.size() || getStrides().size() != from.size() || to.size() != from.size())
    return emitOpError("needs one offset and one stride per dimension");
  for (auto [size, count, offset, stride] : llvm::zip(from, to, getOffsets(), getStrides())) {
    int64_t last = offset + (count - 1) * stride;
    if (stride == 0 || (count > 0 && (offset < 0 || offset >= size || last < 0 || last >= size)))
      return emitOpError() << "selects elements " << offset << " to " << last << " of a dimension of size " << size;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getXs().empty())
    return emitOpError("needs an operand");
  if (failed(expectDimension(*this, getDimension(), typeOf(getY()).getRank())))
    return failure();
  SmallVector<int64_t> shape(shapeOf(getXs().front()));
  if ((int64_t)shape.size() != typeOf(getY()).getRank())
    return emitOpError("operands and result differ in rank");
  shape[getDimension()] = 0;
  for (Value x : getXs()) {
    if (shapeOf(x).size() != shape.size())
      return emitOpError("operands differ in rank");
    for (size_t i = 0; i < shape.size(); ++i)
      if ((int64_t)i == (int64_t)getDimension())
        shape[i] += shapeOf(x)[i];
      else if (shapeOf(x)[i] != shape[i])
        return emitOpError() << "operands differ in dimension " << i << ": " << shapeOf(x)[i] << " and " << shape[i];
  }
  return expectShape(*this, "result", getY(), shape);
}

LogicalResult PadOp::verify() {
  SmallVector<int64_t> shape(shapeOf(getX()));
  if (getLow().size() != shape.size() || getHigh().size() != shape.size())
    return emitOpError("needs one `low` and one `high` per dimension");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (getLow()[i] < 0 || getHigh()[i] < 0)
      return emitOpError("padding must not be negative");
    shape[i] += getLow()[i] + getHigh()[i];
  }
  if (failed(expectShape(*this, "value", getValue(), {})))
    return failure();
  return expectShape(*this, "result", getY(), shape);
}

LogicalResult ReduceOp::verify() {
  SmallVector<int64_t> shape;
  int64_t last = -1;
  for (int64_t dimension : getDimensions()) {
    if (dimension <= last || dimension >= typeOf(getX()).getRank())
      return emitOpError() << "dimensions [" << getDimensions() << "] must be in ascending order and less than "
                           << typeOf(getX()).getRank();
    last = dimension;
  }
  for (auto [i, size] : llvm::enumerate(shapeOf(getX())))
    if (!llvm::is_contained(getDimensions(), (int64_t)i))
      shape.push_back(size);
  return expectShape(*this, "result", getY(), shape);
}

bool ReduceOp::isOverRow() { return getDimensions() == ArrayRef<int64_t>{typeOf(getX()).getRank() - 1}; }

/// table[:dimension] + indices + table[dimension+1:].
static SmallVector<int64_t> gatherShape(ArrayRef<int64_t> table, ArrayRef<int64_t> indices, int64_t dimension) {
  SmallVector<int64_t> shape(table.take_front(dimension));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, table.drop_front(dimension + 1));
  return shape;
}

LogicalResult CastOp::verify() {
  Type from = typeOf(getX()).getElementType(), to = typeOf(getY()).getElementType();
  if (from != to && ((isNarrow(from) && !to.isF32()) || (isNarrow(to) && !from.isF32())))
    return emitOpError() << "converts " << from << " to " << to
                         << "; sixteen-bit types can only be converted from and to f32";
  return success();
}

LogicalResult StochasticCastOp::verify() {
  if (getDraw() >= runtime::kDraws)
    return emitOpError() << "has draw " << getDraw() << ", which must be 0 to " << runtime::kDraws - 1;
  return success();
}

LogicalResult GatherOp::verify() {
  if (failed(expectDimension(*this, getDimension(), typeOf(getTable()).getRank())))
    return failure();
  return expectShape(*this, "result", getY(), gatherShape(shapeOf(getTable()), shapeOf(getIndices()), getDimension()));
}

LogicalResult ScatterAddOp::verify() {
  Type given = typeOf(getUpdates()).getElementType(), made = typeOf(getY()).getElementType();
  if (made != given && !(given.isF32() && isNarrow(made)))
    return emitOpError() << "adds updates of type " << given << " to a result of type " << made
                         << "; the types must be equal, or f32 and a narrow type";
  if (failed(expectDimension(*this, getDimension(), typeOf(getY()).getRank())))
    return failure();
  return expectShape(*this, "updates", getUpdates(),
                     gatherShape(shapeOf(getY()), shapeOf(getIndices()), getDimension()));
}

/// `few` is `many` but for its size along `dimension`, and indices fit `few`, whose leading dimensions they may lack.
static LogicalResult expectElements(Operation *op, Value many, Value few, Value indices, int64_t dimension) {
  int64_t rank = typeOf(many).getRank(), lacking = rank - typeOf(indices).getRank();
  if (failed(expectDimension(op, dimension, rank)))
    return failure();
  if (lacking < 0 || dimension < lacking)
    return op->emitOpError() << "indices have rank " << typeOf(indices).getRank() << ", but must have rank "
                             << rank - dimension << " to " << rank << " for dimension " << dimension
                             << " of a tensor of rank " << rank;
  SmallVector<int64_t> shape(shapeOf(many));
  shape[dimension] = shapeOf(indices)[dimension - lacking];
  if (failed(expectShape(op, "indices", indices, ArrayRef<int64_t>(shape).drop_front(lacking))))
    return failure();
  return expectShape(op, isa<GatherElementsOp>(op) ? "result" : "updates", few, shape);
}

bool ScatterElementsOp::isByRow() {
  RankedTensorType indices = typeOf(getIndices());
  int64_t behind = typeOf(getY()).getRank() - 1 - int64_t(getDimension());
  return behind > 0 && behind < indices.getRank() &&
         llvm::all_of(indices.getShape().take_back(behind), [](int64_t size) { return size == 1; });
}

LogicalResult ScatterElementsOp::verify() {
  Value indices = getIndices();
  if (!isByRow())
    return expectElements(*this, getY(), getUpdates(), indices, getDimension());
  int64_t rank = typeOf(getY()).getRank(), dimension = getDimension(), lacking = rank - typeOf(indices).getRank();
  SmallVector<int64_t> shape(shapeOf(getY()));
  shape[dimension] = shapeOf(indices)[dimension - lacking];
  ArrayRef<int64_t> listed = ArrayRef<int64_t>(shape).slice(lacking, dimension - lacking + 1);
  SmallVector<int64_t> wanted(listed);
  wanted.resize(rank - lacking, 1);
  if (failed(expectShape(*this, "indices", indices, wanted)))
    return failure();
  return expectShape(*this, "updates", getUpdates(), shape);
}

LogicalResult GatherElementsOp::verify() { return expectElements(*this, getX(), getY(), getIndices(), getDimension()); }

LogicalResult ScatterElementsAddOp::verify() {
  return expectElements(*this, getY(), getUpdates(), getIndices(), getDimension());
}

StringRef ContractOp::getLettersA() { return getSpec().split(',').first; }
StringRef ContractOp::getLettersB() { return getSpec().split(',').second.split("->").first; }
StringRef ContractOp::getLettersY() { return getSpec().split("->").second; }

LogicalResult ContractOp::verify() {
  llvm::SmallDenseMap<char, std::pair<int64_t, int>> factors; // size, places
  StringRef letters[] = {getLettersA(), getLettersB(), getLettersY()};
  Value values[] = {getA(), getB(), getY()};
  for (auto [names, value] : llvm::zip(letters, values)) {
    if (names.size() != shapeOf(value).size())
      return emitOpError() << "'" << getSpec() << "' does not fit a tensor of rank " << shapeOf(value).size();
    for (auto [name, size] : llvm::zip(names, shapeOf(value))) {
      auto [it, isNew] = factors.try_emplace(name, size, 0);
      if (it->second.first != size)
        return emitOpError() << "index '" << Twine(name) << "' has two sizes, " << it->second.first << " and " << size;
      if (names.count(name) > 1)
        return emitOpError() << "index '" << Twine(name) << "' occurs twice in '" << names << "'";
      ++it->second.second;
    }
  }
  for (auto &[name, factor] : factors)
    if (factor.second < 2)
      return emitOpError() << "index '" << Twine(name) << "' occurs only once in '" << getSpec() << "'";
  Type factor = typeOf(getA()).getElementType(), sum = typeOf(getY()).getElementType();
  if (sum != factor && !(isNarrow(factor) && sum.isF32()))
    return emitOpError() << "sums products of " << factor << " in " << sum
                         << "; the result must have the type of the operands, or f32 if this type is narrow";
  return success();
}

LogicalResult LayerNormOp::verify() {
  if (typeOf(getX()).getRank() < 1)
    return emitOpError("needs at least one dimension");
  if (failed(expectShape(*this, "weight", getWeight(), shapeOf(getX()).take_back())))
    return failure();
  return expectShape(*this, "mean", getMean(), shapeOf(getX()).drop_back());
}

LogicalResult RmsNormOp::verify() {
  if (typeOf(getX()).getRank() < 1)
    return emitOpError("needs at least one dimension");
  if (failed(expectShape(*this, "weight", getWeight(), shapeOf(getX()).take_back())))
    return failure();
  return expectShape(*this, "rstd", getRstd(), shapeOf(getX()).drop_back());
}

LogicalResult CrossEntropyOp::verify() {
  if (typeOf(getLogits()).getRank() < 1)
    return emitOpError("logits need a class dimension");
  ArrayRef<int64_t> rows = shapeOf(getLogits()).drop_back();
  if (failed(expectShape(*this, "labels", getLabels(), rows)) || failed(expectShape(*this, "sum", getSum(), {})) ||
      failed(expectShape(*this, "count", getCount(), {})))
    return failure();
  return expectShape(*this, "lse", getLse(), rows);
}

const xlc::Optimizer &OptimizerStepOp::getRule() { return *findOptimizer(getKind()); }

LogicalResult OptimizerStepOp::verify() {
  if (!findOptimizer(getKind()))
    return emitOpError() << "has unknown optimizer '" << getKind() << "'";
  size_t states = OptimizerGroup((*this)->getAttrDictionary()).getStateNames().size();
  if (getStates().size() != states || getNewStates().size() != states)
    return emitOpError() << "needs " << states << " states, but has " << getStates().size();
  return expectShape(*this, "scalars", getScalars(), {runtime::kGroupNumbers});
}
