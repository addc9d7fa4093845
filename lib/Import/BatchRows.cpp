// See BatchRows.h.
#include "BatchRows.h"

#include "Importer.h"
#include "OwnPlaces.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;
using shard::Layout;
using shard::Spread;
using xlc::graph::typeOf;

/// Ops in order; what an op is called at one batch it is called at the other.
static bool pairOps(func::FuncOp a, func::FuncOp b, DenseMap<Operation *, Operation *> &twins) {
  auto &left = a.front().getOperations(), &right = b.front().getOperations();
  for (auto [one, other] : llvm::zip(left, right)) {
    if (one.getName() != other.getName())
      return false;
    twins[&one] = &other;
  }
  return left.size() == right.size();
}

BatchRows::BatchRows(const BatchGraph &graph, const BatchGraph &other, const llvm::StringSet<> &local)
    : rows(graph.rows), otherRows(other.rows), local(local) {
  if (rows == otherRows || !pairOps(graph.function, other.function, twins))
    twins.clear();
  func::FuncOp function = graph.function;
  for (BlockArgument argument : function.getArguments()) {
    RowState &state = states[argument];
    unsigned number = argument.getArgNumber();
    if (graph::Argument(function, number).getParameter()) {
      state.isTrained = !graph::Argument(function, number).isFrozen();
    } else {
      state.kind = Kind::Rows;
      state.layout = Layout::split(0, 1, rows);
    }
  }
  for (Operation &op : function.front())
    if (isa_and_nonnull<graph::GraphDialect>(op.getDialect()))
      visit(&op);
}

RowState BatchRows::met(Operation *op, Obstacle why) const {
  RowState state;
  state.kind = Kind::Met;
  state.where = op;
  state.why = why;
  return state;
}

void BatchRows::visit(Operation *op) {
  SmallVector<RowState, 2> results(op->getNumResults());
  bool isSummed = false, hasRows = false, isTrained = false;
  const RowState *first = nullptr;
  for (Value operand : op->getOperands()) {
    const RowState &state = of(operand);
    if (state.kind == Kind::Met && !first)
      first = &state;
    isSummed |= state.isSummed();
    hasRows |= state.kind == Kind::Rows;
    isTrained |= state.isTrained;
  }
  std::optional<RowState> own = inferOwnPlaces(op);
  if (own)
    llvm::fill(results, *own);
  else if (isQuotientOfStep(op))
    results[0].kind = Kind::Terms;
  else if (first)
    llvm::fill(results, *first);
  else if (isSummed)
    llvm::fill(results, hasRows ? met(op, Obstacle::Rows) : inferSum(op));
  else if (hasRows)
    inferRows(op, results);
  else
    llvm::fill(results, inferSource(op));
  uint64_t uniform = uniformOf(op);
  std::optional<int> power = own ? own->power : powerOf(op); // places are no factors
  for (auto [result, state] : llvm::zip(op->getResults(), results)) {
    if (state.kind <= Kind::Sum && local.contains(graph::getSourceName(op))) {
      state.kind = state.kind == Kind::Rows ? Kind::Rows : Kind::Same;
      power = 0;
    }
    state.uniform = uniform;
    state.power = power;
    state.isTrained = isTrained && isa<FloatType>(typeOf(result).getElementType());
    states[result] = state;
  }
}

/// A dimension of the batch's size that an op makes of nothing is the batch, with equal rows: no other dimension has
/// that size. Two of them are rows against rows.
void BatchRows::expand(Operation *op, RowState &state) const {
  SmallVector<int64_t> found;
  for (auto [dim, size] : llvm::enumerate(typeOf(op->getResult(0)).getShape()))
    if (size == rows)
      found.push_back(dim);
  if (found.size() != 1 || !(uniformOf(op) >> found[0] & 1))
    return;
  state.kind = Kind::Rows;
  state.layout = Layout::split(found[0], 1, rows);
}

RowState BatchRows::inferSource(Operation *op) const {
  RowState state;
  if (rows == otherRows || !isa<graph::BroadcastOp, graph::ConstantOp>(op))
    return state;
  auto constant = dyn_cast<graph::ConstantOp>(op);
  if (!constant || constant.getValue().isSplat()) {
    expand(op, state);
  } else if (auto layout = findRows(cast<DenseElementsAttr>(constant.getValue()), rows, 0)) {
    state.kind = Kind::Rows;
    state.layout = *layout;
  }
  return state;
}

/// A linear op on a sum makes a sum. Sums, their quotients and what is the same for all rows may be added.
RowState BatchRows::inferSum(Operation *op) const {
  uint32_t summed = 0;
  bool isPure = true;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    const RowState &state = of(operand);
    summed |= uint32_t(state.isSummed()) << number;
    isPure &= state.kind != Kind::Terms;
  }
  RowState state;
  auto cast = dyn_cast<graph::CastOp>(op);
  bool isCount =
      cast && typeOf(cast.getX()).getElementType().isInteger() && !typeOf(cast.getY()).getElementType().isInteger(1);
  if (isCount || llvm::is_contained(shard::getLinearSets(op), summed)) {
    bool isOnePower = isPure && powerOf(op).has_value();
    state.kind = isOnePower ? Kind::Sum : Kind::Terms;
    return state;
  }
  state.kind = Kind::Terms;
  if (op->hasTrait<graph::Sum>())
    return state;
  auto quotient = dyn_cast<graph::DivOp>(op);
  if (!quotient)
    return met(op, Obstacle::Sum);
  const RowState &divisor = of(quotient.getB());
  bool isNumber = divisor.uniform == kAllDimensions && divisor.kind == Kind::Sum;
  return isNumber && !divisor.isTrained ? state : met(op, Obstacle::Divisor);
}

/// A sum divided by one number that is no sum, such as a count that is at least 1: known where it is of inputs alone,
/// and all rows of the step are at hand.
bool BatchRows::isQuotientOfStep(Operation *op) const {
  auto quotient = dyn_cast<graph::DivOp>(op);
  if (!quotient || of(quotient.getA()).kind != Kind::Sum)
    return false;
  const RowState &divisor = of(quotient.getB());
  return divisor.kind == Kind::Met && divisor.uniform == kAllDimensions && !divisor.isTrained;
}

std::optional<int64_t> BatchRows::findOwnDim(Value indices, int64_t size) const {
  int64_t perRow = size / rows;
  Value flat = indices;
  while (auto reshape = flat.getDefiningOp<graph::ReshapeOp>())
    flat = reshape.getX();
  if (auto places = flat.getDefiningOp<graph::ConstantOp>()) {
    std::optional<Layout> layout =
        findRows(cast<DenseElementsAttr>(places.getValue()).reshape(typeOf(indices)), rows, perRow);
    return layout ? std::optional(layout->dim) : std::nullopt;
  }
  auto rowsOf = [&](Value value) {
    const RowState &state = of(value);
    bool areRows = state.kind == Kind::Rows && state.layout == Layout::split(state.layout.dim, 1, rows) &&
                   typeOf(value).getDimSize(state.layout.dim) == rows;
    return areRows ? std::optional(state.layout.dim) : std::nullopt;
  };
  auto isSame = [&](Value value) { return of(value).kind == Kind::Same; };
  PlaceFinder finder(rows, rowsOf, isSame);
  auto findDim = [&](Value value) -> std::optional<int64_t> {
    std::optional<RowPlaces> places = finder.find(value);
    bool areOwn = places && places->step == perRow && places->rest.low >= 0 && places->rest.high < perRow;
    return areOwn ? places->dim : std::nullopt;
  };
  if (std::optional<int64_t> dim = findDim(indices))
    return dim;
  std::optional<int64_t> dim = findDim(flat); // a list of what is by rows before it becomes one
  return dim == 0 && typeOf(indices).getDimSize(0) % rows == 0 ? dim : std::nullopt;
}

bool BatchRows::liesAlong(Value value, int64_t dim) const {
  const RowState &state = of(value);
  bool isAlike = state.kind == Kind::Same && (state.uniform >> dim & 1);
  return isAlike || (state.kind == Kind::Rows && state.layout == Layout::split(dim, 1, rows));
}

std::optional<RowState> BatchRows::inferOwnPlaces(Operation *op) const {
  auto rowsAlong = [&](int64_t dim, std::optional<int> power) {
    RowState state;
    state.kind = Kind::Rows;
    state.layout = Layout::split(dim, 1, rows);
    state.power = power;
    return state;
  };
  auto isOfRows = [&](Value value, int64_t dim) {
    return of(value).kind == Kind::Rows && of(value).layout == Layout::split(dim, 1, rows);
  };
  if (auto gather = dyn_cast<graph::GatherOp>(op)) {
    Value table = gather.getTable();
    int64_t dim = gather.getDimension();
    if (!isOfRows(table, dim))
      return std::nullopt;
    std::optional<int64_t> own = findOwnDim(gather.getIndices(), typeOf(table).getDimSize(dim));
    return own ? std::optional(rowsAlong(dim + *own, of(table).power)) : std::nullopt;
  }
  if (auto scatter = dyn_cast<graph::ScatterAddOp>(op)) {
    int64_t dim = scatter.getDimension(), size = typeOf(scatter.getY()).getDimSize(dim);
    std::optional<int64_t> own = size % rows == 0 ? findOwnDim(scatter.getIndices(), size) : std::nullopt;
    if (!own || !liesAlong(scatter.getUpdates(), dim + *own))
      return std::nullopt;
    return rowsAlong(dim, of(scatter.getUpdates()).power);
  }
  auto scatter = dyn_cast<graph::ScatterElementsOp>(op);
  if (!scatter || scatter.getDimension() != 0 || !(scatter.isByRow() || typeOf(scatter.getY()).getRank() == 1))
    return std::nullopt;
  Value base = scatter.getBase(), updates = scatter.getUpdates();
  int64_t size = typeOf(base).getDimSize(0);
  if (size % rows != 0 || findOwnDim(scatter.getIndices(), size) != 0 || !liesAlong(base, 0) || !liesAlong(updates, 0))
    return std::nullopt;
  return rowsAlong(0, of(base).power == of(updates).power ? of(base).power : std::nullopt);
}

void BatchRows::inferRows(Operation *op, MutableArrayRef<RowState> results) const {
  llvm::fill(results, met(op, Obstacle::Rows));
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (of(operand).kind != Kind::Rows)
      continue;
    std::optional<Spread> found = shard::spreadBatch(op, {unsigned(number), of(operand).layout, rows});
    if (!found || !agrees(op, *found))
      continue;
    for (auto [state, layout] : llvm::zip(results, found->results)) {
      if (!layout.isSplit() && !layout.isPartial)
        return; // a result that would be the same whatever this row is
      state = RowState();
      state.kind = layout.isSplit() ? Kind::Rows : Kind::Sum;
      state.layout = layout;
    }
    return;
  }
}

bool BatchRows::agrees(Operation *op, const Spread &found) const {
  for (auto [operand, layout] : llvm::zip(op->getOperands(), found.operands)) {
    const RowState &state = of(operand);
    Layout own = state.kind == Kind::Rows ? state.layout : Layout();
    auto isFree = [&](const Layout &of) { return !of.isSplit() || (state.uniform >> of.dim & 1); };
    if (own != layout && !(isFree(own) && isFree(layout)))
      return false;
  }
  return true;
}

uint64_t BatchRows::uniformOf(Operation *op) const {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return findUniform(cast<DenseElementsAttr>(constant.getValue()));
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return ~(uint64_t(1) << iota.getDimension());
  if (op->getNumOperands() == 0)
    return 0;
  uint64_t first = of(op->getOperand(0)).uniform;
  if (typeOf(op->getOperand(0)).getNumElements() == 1)
    first = kAllDimensions;
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
    ArrayRef<int64_t> x = typeOf(broadcast.getX()).getShape(), y = typeOf(broadcast.getY()).getShape();
    uint64_t uniform = 0;
    for (int64_t dim = 0, missing = int64_t(y.size() - x.size()); dim < int64_t(y.size()); ++dim) {
      bool isRepeated = dim < missing || x[dim - missing] != y[dim] || x[dim - missing] == 1;
      uniform |= uint64_t(isRepeated || (first >> (dim - missing) & 1)) << dim;
    }
    return first == kAllDimensions ? first : uniform;
  }
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    uint64_t uniform = 0;
    for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
      uniform |= (first >> from & 1) << dim;
    return first == kAllDimensions ? first : uniform;
  }
  if (isa<graph::ReshapeOp>(op))
    return first == kAllDimensions ? first : 0;
  if (!shard::isElementwise(op))
    return typeOf(op->getResult(0)).getNumElements() == 1 ? kAllDimensions : 0;
  uint64_t uniform = kAllDimensions;
  for (Value operand : op->getOperands())
    uniform &= typeOf(operand).getNumElements() == 1 ? kAllDimensions : of(operand).uniform;
  return uniform;
}
