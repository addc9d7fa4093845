// See MaskRows.h.
#include "MaskRows.h"
#include "xlc/Raise/MatchValues.h"

using namespace mlir;
using namespace xlc;
using xlc::graph::typeOf;

namespace {

constexpr int maximumMaskDepth = 64; ///< of the expression: files are not trusted

/// Numbers along one of the two dimensions: along queries, along keys, or one for all.
struct Vector {
  enum class Axis { Query, Key, None } axis = Axis::None;
  std::vector<double> values;

  double at(int64_t i) const { return values[axis == Axis::None ? 0 : i]; }
};

/// The elements, or the one that stands for all.
template <typename T> SmallVector<T> firstOrAll(DenseElementsAttr elements) {
  if (elements.isSplat())
    return {elements.getSplatValue<T>()};
  return llvm::to_vector(elements.getValues<T>());
}

bool compares(graph::Predicate predicate, double a, double b) {
  switch (predicate) {
  case graph::Predicate::eq:
    return a == b;
  case graph::Predicate::ne:
    return a != b;
  case graph::Predicate::lt:
    return a < b;
  case graph::Predicate::le:
    return a <= b;
  case graph::Predicate::gt:
    return a > b;
  case graph::Predicate::ge:
    return a >= b;
  }
  llvm_unreachable("all predicates are named");
}

class Reader {
public:
  Reader(int64_t queries, int64_t keys) : queries(queries), keys(keys) {}

  std::optional<MaskRows> read(Value value, int depth = 0) {
    if (depth > maximumMaskDepth)
      return std::nullopt;
    if (std::optional<Vector> vector = findVector(value))
      return fromVector(*vector);
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (isa<graph::BroadcastOp, graph::ReshapeOp>(op))
      return keepsLastTwo(op->getOperand(0), value) ? read(op->getOperand(0), depth + 1) : std::nullopt;
    if (auto cast = dyn_cast<graph::CastOp>(op))
      return readCast(cast, depth);
    if (auto constant = dyn_cast<graph::ConstantOp>(op))
      return readMatrix(constant);
    if (auto compare = dyn_cast<graph::CompareOp>(op))
      return readCompare(compare);
    if (auto inverse = dyn_cast<graph::NotOp>(op)) {
      std::optional<MaskRows> rows = read(inverse.getX(), depth + 1);
      if (rows)
        std::swap(rows->inside, rows->outside);
      return rows;
    }
    if (auto select = dyn_cast<graph::SelectOp>(op))
      return readSelect(select, depth);
    if (isa<graph::AndOp, graph::OrOp>(op))
      return readLogical(op, depth);
    if (isa<graph::AddOp, graph::SubOp, graph::MulOp>(op))
      return readArithmetic(op, depth);
    return std::nullopt;
  }

private:
  /// Whether the last two dimensions are the same in both, and nothing but ones stands before them in `from`; or `from`
  /// broadcasts.
  bool keepsLastTwo(Value from, Value to) const {
    ArrayRef<int64_t> small = typeOf(from).getShape(), large = typeOf(to).getShape();
    if (to.getDefiningOp<graph::BroadcastOp>())
      return true;
    while (!small.empty() && small.front() == 1)
      small = small.drop_front();
    while (!large.empty() && large.front() == 1)
      large = large.drop_front();
    return small == large;
  }

  /// A value that changes along at most one of the two dimensions: constants and positions.
  std::optional<Vector> findVector(Value value) const {
    Value root = value;
    while (Operation *op = root.getDefiningOp()) {
      if (!isa<graph::BroadcastOp>(op) && !(isa<graph::ReshapeOp>(op) && keepsLastTwo(op->getOperand(0), root)))
        break;
      root = op->getOperand(0);
    }
    if (auto iota = root.getDefiningOp<graph::IotaOp>())
      return countAlong(iota);
    auto constant = root.getDefiningOp<graph::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!elements)
      return std::nullopt;
    ArrayRef<int64_t> small = elements.isSplat() ? ArrayRef<int64_t>() : typeOf(root).getShape();
    while (!small.empty() && small.front() == 1)
      small = small.drop_front();
    Vector vector;
    if (small.size() == 1 && small[0] == keys)
      vector.axis = Vector::Axis::Key;
    else if (small.size() == 2 && small[0] == queries && small[1] == 1)
      vector.axis = Vector::Axis::Query;
    else if (!small.empty())
      return std::nullopt;
    if (isa<FloatType>(elements.getElementType()))
      for (const APFloat &x : firstOrAll<APFloat>(elements))
        vector.values.push_back(x.convertToDouble());
    else
      for (const APInt &x : firstOrAll<APInt>(elements))
        vector.values.push_back(x.getBitWidth() == 1 ? (double)x.getZExtValue() : (double)x.getSExtValue());
    return vector;
  }

  std::optional<Vector> countAlong(graph::IotaOp iota) const {
    int64_t dimension = iota.getDimension(), fromLast = typeOf(iota.getY()).getRank() - dimension;
    int64_t size = typeOf(iota.getY()).getDimSize(dimension);
    if (fromLast > 2 || size != (fromLast == 1 ? keys : queries))
      return std::nullopt;
    Vector vector{fromLast == 1 ? Vector::Axis::Key : Vector::Axis::Query, {}};
    for (int64_t i = 0; i < size; ++i)
      vector.values.push_back((double)i);
    return vector;
  }

  /// Rows of the keys for which `holds(query, key)`; none where they are no interval.
  template <typename Holds> std::optional<MaskRows> collect(Holds holds) const {
    MaskRows result;
    for (int64_t query = 0; query < queries; ++query) {
      KeyInterval row;
      int pieces = 0;
      for (int64_t key = 0; key < keys; ++key) {
        if (!holds(query, key))
          continue;
        if (row.end != key || row.begin == row.end)
          row.begin = key, ++pieces;
        row.end = key + 1;
      }
      if (pieces > 1)
        return std::nullopt;
      result.rows.push_back(row);
    }
    return result;
  }

  std::optional<MaskRows> readCast(graph::CastOp cast, int depth) {
    std::optional<MaskRows> rows = read(cast.getX(), depth + 1);
    if (rows && typeOf(cast.getY()).getElementType().isInteger(1))
      rows->inside = rows->inside != 0, rows->outside = rows->outside != 0;
    return rows;
  }

  /// Elements that stand there one by one, true or false.
  std::optional<MaskRows> readMatrix(graph::ConstantOp constant) const {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    ArrayRef<int64_t> shape = typeOf(constant.getY()).getShape();
    while (!shape.empty() && shape.front() == 1)
      shape = shape.drop_front();
    if (!elements || !elements.getElementType().isInteger(1) || shape != ArrayRef<int64_t>({queries, keys}))
      return std::nullopt;
    auto values = elements.getValues<bool>();
    return collect([&](int64_t query, int64_t key) { return (bool)values[query * keys + key]; });
  }

  std::optional<MaskRows> fromVector(const Vector &vector) const {
    double low = *llvm::min_element(vector.values), high = *llvm::max_element(vector.values);
    if (!llvm::all_of(vector.values, [&](double x) { return x == low || x == high; }))
      return std::nullopt;
    auto isHigh = [&](int64_t i) { return low == high || vector.at(i) == high; };
    MaskRows result;
    if (vector.axis == Vector::Axis::Key) { // all rows are the first
      std::optional<MaskRows> first = Reader(1, keys).collect([&](int64_t, int64_t key) { return isHigh(key); });
      if (!first)
        return std::nullopt;
      result.rows.assign(queries, first->rows.front());
    } else {
      for (int64_t query = 0; query < queries; ++query)
        result.rows.push_back({0, isHigh(query) ? keys : 0});
    }
    result.inside = high, result.outside = low == high ? 0 : low;
    return result;
  }

  /// Positions of queries against positions of keys. Keys ascend, so what a comparison admits is found by bisection.
  std::optional<MaskRows> readCompare(graph::CompareOp compare) const {
    std::optional<Vector> a = findVector(compare.getA()), b = findVector(compare.getB());
    if (!a || !b)
      return std::nullopt;
    graph::Predicate predicate = compare.getPredicate();
    auto holds = [&](int64_t query, int64_t key) {
      auto value = [&](const Vector &x) { return x.at(x.axis == Vector::Axis::Key ? key : query); };
      return compares(predicate, value(*a), value(*b));
    };
    const Vector &alongKeys = a->axis == Vector::Axis::Key ? *a : *b;
    bool isOneEach = (a->axis == Vector::Axis::Key) != (b->axis == Vector::Axis::Key);
    if (alongKeys.axis != Vector::Axis::Key) { // decided by the query alone
      MaskRows result;
      for (int64_t query = 0; query < queries; ++query)
        result.rows.push_back({0, holds(query, 0) ? keys : 0});
      return result;
    }
    if (!isOneEach || !llvm::is_sorted(alongKeys.values) || predicate == graph::Predicate::ne)
      return queries * keys <= int64_t(1) << 20 ? collect(holds) : std::nullopt;
    const Vector &alongQueries = &alongKeys == &*a ? *b : *a;
    return bisect(alongKeys, alongQueries, predicate, &alongKeys == &*a, holds);
  }

  template <typename Holds>
  std::optional<MaskRows> bisect(const Vector &alongKeys, const Vector &alongQueries, graph::Predicate predicate,
                                 bool keysAreLeft, Holds holds) const {
    MaskRows result;
    const std::vector<double> &values = alongKeys.values;
    for (int64_t query = 0; query < queries; ++query) {
      double x = alongQueries.at(query);
      int64_t lower = llvm::lower_bound(values, x) - values.begin();
      int64_t upper = llvm::upper_bound(values, x) - values.begin();
      // Keys before, at and behind x are each all in or all out.
      KeyInterval pieces[] = {{0, lower}, {lower, upper}, {upper, keys}}, row;
      for (KeyInterval piece : pieces)
        if (piece.begin < piece.end && holds(query, piece.begin))
          row = row.begin == row.end ? piece : KeyInterval{row.begin, piece.end};
      result.rows.push_back(row);
    }
    return result;
  }

  /// The condition's rows where it chooses between two numbers.
  std::optional<MaskRows> readSelect(graph::SelectOp select, int depth) {
    std::optional<Vector> a = findVector(select.getA()), b = findVector(select.getB());
    std::optional<MaskRows> rows = read(select.getCondition(), depth + 1);
    if (!a || !b || !rows || a->axis != Vector::Axis::None || b->axis != Vector::Axis::None)
      return std::nullopt;
    rows->inside = rows->inside != 0 ? a->at(0) : b->at(0);
    rows->outside = rows->outside != 0 ? a->at(0) : b->at(0);
    return rows;
  }

  static std::optional<MaskRows> positive(std::optional<MaskRows> rows, int64_t keys) {
    if (!rows || (rows->inside != 0) == (rows->outside != 0)) // all or nothing
      return rows ? std::optional(MaskRows{
                        std::vector<KeyInterval>(rows->rows.size(), {0, rows->inside != 0 ? keys : int64_t(0)}), 1, 0})
                  : std::nullopt;
    if (rows->inside != 0)
      return MaskRows{std::move(rows->rows), 1, 0};
    for (KeyInterval &row : rows->rows) // the complement, where it is an interval
      if (row.begin == row.end)
        row = {0, keys};
      else if (row.begin == 0)
        row = {row.end, keys};
      else if (row.end == keys)
        row = {0, row.begin};
      else
        return std::nullopt;
    return MaskRows{std::move(rows->rows), 1, 0};
  }

  std::optional<MaskRows> readLogical(Operation *op, int depth) {
    std::optional<MaskRows> a = positive(read(op->getOperand(0), depth + 1), keys);
    std::optional<MaskRows> b = positive(read(op->getOperand(1), depth + 1), keys);
    if (!a || !b)
      return std::nullopt;
    for (auto [x, y] : llvm::zip_equal(a->rows, b->rows)) {
      int64_t begin = std::max(x.begin, y.begin), end = std::min(x.end, y.end);
      if (isa<graph::AndOp>(op))
        x = begin < end ? KeyInterval{begin, end} : KeyInterval();
      else if (x.begin == x.end || y.begin == y.end)
        x = x.begin == x.end ? y : x;
      else if (begin <= end) // they overlap or touch
        x = {std::min(x.begin, y.begin), std::max(x.end, y.end)};
      else
        return std::nullopt;
    }
    return a;
  }

  /// A number added to, or multiplied with, what two-valued rows hold.
  std::optional<MaskRows> readArithmetic(Operation *op, int depth) {
    for (bool isLeft : {true, false}) {
      std::optional<Vector> number = findVector(op->getOperand(isLeft ? 0 : 1));
      if (!number || number->axis != Vector::Axis::None)
        continue;
      std::optional<MaskRows> rows = read(op->getOperand(isLeft ? 1 : 0), depth + 1);
      if (!rows)
        return std::nullopt;
      double c = number->at(0);
      for (double *x : {&rows->inside, &rows->outside})
        *x = isa<graph::AddOp>(op) ? *x + c : isa<graph::MulOp>(op) ? *x * c : isLeft ? c - *x : *x - c;
      return rows;
    }
    return std::nullopt;
  }

  int64_t queries, keys;
};

} // namespace

std::optional<MaskRows> xlc::findMaskRows(Value mask, int64_t queries, int64_t keys) {
  return Reader(queries, keys).read(mask);
}
