// See OwnPlaces.h.
#include "OwnPlaces.h"

#include "xlc/Factors/FactorRules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using xlc::graph::typeOf;

static constexpr int maximumDepth = 64; // of the expression: files are not trusted

static bool isInteger(Value value) {
  return isa<IntegerType>(typeOf(value).getElementType()) && !typeOf(value).getElementType().isInteger(1);
}

static bool isOpen(const Bounds &bounds) {
  return bounds.low <= -Bounds::kUnbounded || bounds.high >= Bounds::kUnbounded;
}

using Wide = __int128; // of two products of int64, and of their sum

/// Whether the element type of `value` holds these without wrapping, and Bounds can say them.
static bool fits(Wide low, Wide high, Value value) {
  Wide limit = Wide(1) << (std::min(63u, typeOf(value).getElementTypeBitWidth()) - 1);
  return low > -limit && high < limit;
}

static Bounds fit(Wide low, Wide high, Value value) {
  return fits(low, high, value) ? Bounds{(int64_t)low, (int64_t)high} : Bounds();
}

static Bounds unite(const Bounds &a, const Bounds &b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// The numbers of a constant, one for all where they are equal; empty for a large one.
static SmallVector<int64_t> readNumbers(graph::ConstantOp constant) {
  constexpr int64_t largest = 1 << 22;
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  if (elements.isSplat())
    return {elements.getSplatValue<APInt>().getSExtValue()};
  SmallVector<int64_t> numbers;
  if (elements.getNumElements() <= largest)
    for (const APInt &x : elements.getValues<APInt>())
      numbers.push_back(x.getSExtValue());
  return numbers;
}

static Bounds boundsOfNumbers(ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return {};
  Bounds bounds{*llvm::min_element(numbers), *llvm::max_element(numbers)};
  return isOpen(bounds) ? Bounds() : bounds;
}

/// The operand of a concat in which a slice lies, or what it is a slice of.
static Value findSource(graph::SliceOp slice) {
  auto concat = slice.getX().getDefiningOp<graph::ConcatOp>();
  if (!concat)
    return slice.getX();
  int64_t dim = concat.getDimension(), from = slice.getOffsets()[dim];
  int64_t to = from + (typeOf(slice.getY()).getDimSize(dim) - 1) * slice.getStrides()[dim];
  for (Value x : concat.getXs()) {
    int64_t size = typeOf(x).getDimSize(dim);
    if (from >= 0 && to < size)
      return x;
    from -= size, to -= size;
  }
  return slice.getX();
}

//===----------------------------------------------------------------------===//
// Bounds of all elements
//===----------------------------------------------------------------------===//

Bounds PlaceFinder::boundsOf(Value value, int depth) {
  if (typeOf(value).getElementType().isInteger(1))
    return {0, 1};
  Operation *op = value.getDefiningOp();
  if (!op || depth > maximumDepth || !isInteger(value))
    return {};
  if (auto it = known.find(value); it != known.end())
    return it->second;
  return known[value] = computeBounds(op, depth + 1);
}

Bounds PlaceFinder::computeBounds(Operation *op, int depth) {
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return {0, typeOf(iota.getY()).getDimSize(iota.getDimension()) - 1};
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return boundsOfNumbers(readNumbers(constant));
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return boundsOf(findSource(slice), depth);
  if (op->hasTrait<graph::Movement>() || isa<graph::GatherOp>(op))
    return boundsOf(op->getOperand(0), depth);
  if (isa<graph::CastOp>(op)) {
    Bounds bounds = boundsOf(op->getOperand(0), depth);
    return fit(bounds.low, bounds.high, op->getResult(0));
  }
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return reduce.getKind() == graph::Reduction::sum ? Bounds() : boundsOf(reduce.getX(), depth);
  if (auto select = dyn_cast<graph::SelectOp>(op)) {
    Value taken = findTaken(select, depth);
    return taken ? boundsOf(taken, depth) : unite(boundsOf(select.getA(), depth), boundsOf(select.getB(), depth));
  }
  return op->getNumOperands() == 2 ? boundsOfTwo(op, depth) : Bounds();
}

Bounds PlaceFinder::boundsOfTwo(Operation *op, int depth) {
  Bounds a = boundsOf(op->getOperand(0), depth), b = boundsOf(op->getOperand(1), depth);
  if (isa<graph::MaxOp>(op))
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (isa<graph::MinOp>(op))
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (isOpen(a) || isOpen(b))
    return {};
  Value y = op->getResult(0);
  if (isa<graph::AddOp>(op))
    return fit(Wide(a.low) + b.low, Wide(a.high) + b.high, y);
  if (isa<graph::SubOp>(op))
    return fit(Wide(a.low) - b.high, Wide(a.high) - b.low, y);
  if (!isa<graph::MulOp>(op))
    return {};
  Wide corners[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
  return fit(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4), y);
}

Value PlaceFinder::findTaken(graph::SelectOp op, int depth) {
  auto compare = op.getCondition().getDefiningOp<graph::CompareOp>();
  if (!compare || !isInteger(compare.getA()))
    return {};
  Bounds a = boundsOf(compare.getA(), depth + 1), b = boundsOf(compare.getB(), depth + 1);
  switch (compare.getPredicate()) {
  case graph::Predicate::lt:
    return a.high < b.low ? op.getA() : a.low >= b.high ? op.getB() : Value();
  case graph::Predicate::ge:
    return a.low >= b.high ? op.getA() : a.high < b.low ? op.getB() : Value();
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Places of rows
//===----------------------------------------------------------------------===//

/// Whether the rows that lie along `from` in what `op` arranges lie along `to` in its result, in their order.
static bool keepsRows(Operation *op, int64_t from, int64_t to) {
  ArrayRef<int64_t> x = typeOf(op->getOperand(0)).getShape(), y = typeOf(op->getResult(0)).getShape();
  if (isa<graph::ReshapeOp>(op))
    return x[from] == y[to] &&
           ShapedType::getNumElements(x.take_front(from)) == ShapedType::getNumElements(y.take_front(to));
  if (auto slice = dyn_cast<graph::SliceOp>(op))
    return from == to && x[from] == y[to] && slice.getOffsets()[to] == 0 && slice.getStrides()[to] == 1;
  return from + int64_t(y.size() - x.size()) == to && x[from] == y[to];
}

std::optional<int64_t> PlaceFinder::dimOfBatch(Value value) const {
  std::optional<int64_t> found;
  for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape())) {
    if (size % rows != 0)
      continue;
    if (found || size != rows)
      return std::nullopt;
    found = (int64_t)dim;
  }
  return found;
}

std::optional<RowPlaces> PlaceFinder::find(Value value, int depth) {
  if (std::optional<int64_t> dim = rowsOf(value))
    return RowPlaces{0, boundsOf(value), dim};
  bool hasRows = llvm::any_of(typeOf(value).getShape(), [&](int64_t size) { return size % rows == 0; });
  if (isSame(value) && !hasRows)
    return RowPlaces{0, boundsOf(value), std::nullopt};
  Operation *op = value.getDefiningOp();
  if (!op || depth > maximumDepth)
    return std::nullopt;
  if (auto it = found.find(value); it != found.end())
    return it->second;
  std::optional<RowPlaces> places = findComputed(op, depth + 1);
  if (!places && shard::isElementwise(op))
    places = findOwn(op, depth + 1);
  return found[value] = places;
}

std::optional<RowPlaces> PlaceFinder::findComputed(Operation *op, int depth) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return isInteger(constant.getY()) ? findNumbers(constant) : std::nullopt;
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return isInteger(iota.getY()) ? findNumbers(iota) : std::nullopt;
  if (isa<graph::AddOp, graph::MulOp>(op))
    return findSum(op, depth);
  if (op->hasTrait<graph::Extremum>())
    return findLimited(op, depth);
  if (auto select = dyn_cast<graph::SelectOp>(op)) {
    Value taken = findTaken(select, depth);
    return taken ? find(taken, depth) : std::nullopt;
  }
  return findMoved(op, depth);
}

/// Element by element of what each row has alone.
std::optional<RowPlaces> PlaceFinder::findOwn(Operation *op, int depth) {
  RowPlaces own{0, boundsOf(op->getResult(0), depth), std::nullopt};
  for (Value operand : op->getOperands()) {
    std::optional<RowPlaces> places = find(operand, depth);
    if (!places || places->step != 0 || (own.dim && places->dim && own.dim != places->dim))
      return std::nullopt;
    own.dim = own.dim ? own.dim : places->dim;
  }
  return own;
}

std::optional<RowPlaces> PlaceFinder::findNumbers(graph::IotaOp iota) const {
  std::optional<int64_t> dim = dimOfBatch(iota.getY());
  if (!dim)
    return std::nullopt;
  int64_t along = iota.getDimension();
  return along == *dim ? RowPlaces{1, {0, 0}, dim} : RowPlaces{0, {0, typeOf(iota.getY()).getDimSize(along) - 1}, dim};
}

/// Numbers that grow by the same step from each row to the next.
std::optional<RowPlaces> PlaceFinder::findNumbers(graph::ConstantOp constant) const {
  std::optional<int64_t> dim = dimOfBatch(constant.getY());
  SmallVector<int64_t> numbers = readNumbers(constant);
  if (!dim || numbers.size() < 2)
    return std::nullopt;
  int64_t block = ShapedType::getNumElements(typeOf(constant.getY()).getShape().drop_front(*dim + 1));
  RowPlaces places{numbers[block] - numbers[0], {numbers[0], numbers[0]}, dim};
  for (auto [i, number] : llvm::enumerate(numbers)) {
    bool isFirst = int64_t(i) / block % rows == 0;
    if (isFirst)
      places.rest = unite(places.rest, {number, number});
    else if (number != numbers[i - block] + places.step)
      return std::nullopt;
  }
  return places;
}

/// a + b, and a times one number that is not negative.
std::optional<RowPlaces> PlaceFinder::findSum(Operation *op, int depth) {
  std::optional<RowPlaces> a = find(op->getOperand(0), depth), b = find(op->getOperand(1), depth);
  if (!a || !b || (a->dim && b->dim && a->dim != b->dim) || isOpen(a->rest) || isOpen(b->rest))
    return std::nullopt;
  Wide step, low, high;
  if (isa<graph::AddOp>(op)) {
    step = Wide(a->step) + b->step, low = Wide(a->rest.low) + b->rest.low, high = Wide(a->rest.high) + b->rest.high;
  } else {
    if (b->step != 0 || b->rest.low != b->rest.high)
      std::swap(a, b);
    Wide factor = b->rest.low;
    if (b->step != 0 || factor != b->rest.high || factor < 0)
      return std::nullopt;
    step = a->step * factor, low = a->rest.low * factor, high = a->rest.high * factor;
  }
  if (step < 0 || !fits(low, high + step * rows, op->getResult(0)))
    return std::nullopt;
  return RowPlaces{(int64_t)step, {(int64_t)low, (int64_t)high}, a->dim ? a->dim : b->dim};
}

/// A limit that is never reached changes nothing.
std::optional<RowPlaces> PlaceFinder::findLimited(Operation *op, int depth) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Bounds left = boundsOf(a, depth), right = boundsOf(b, depth);
  bool isMax = isa<graph::MaxOp>(op);
  if (isMax ? left.low >= right.high : left.high <= right.low)
    return find(a, depth);
  if (isMax ? right.low >= left.high : right.high <= left.low)
    return find(b, depth);
  return std::nullopt;
}

/// What arranges elements, or converts them.
std::optional<RowPlaces> PlaceFinder::findMoved(Operation *op, int depth) {
  auto slice = dyn_cast<graph::SliceOp>(op);
  bool isMoved = op->hasTrait<graph::Movement>() || isa<graph::CastOp>(op);
  if (!isMoved || isa<graph::TransposeOp>(op)) // which keepsRows does not follow
    return std::nullopt;
  Value x = slice ? findSource(slice) : op->getOperand(0), y = op->getResult(0);
  Bounds bounds = boundsOf(x, depth);
  bool isExact = isInteger(x) && isInteger(y) && fits(bounds.low, bounds.high, y);
  if (isa<graph::CastOp>(op) && !isExact)
    return std::nullopt;
  std::optional<RowPlaces> places = find(x, depth);
  std::optional<int64_t> to = dimOfBatch(y);
  if (!places || !places->dim)
    return places;
  int64_t from = *places->dim;
  if (!to || !keepsRows(op, from, *to))
    return std::nullopt;
  places->dim = to;
  return places;
}
