// Rules that move elements without computing: each gives `forEachPosition` its strides.
#include "Rules.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "xlc/Runtime/Narrow.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

/// A tensor of `shape` whose element at each position is x's at `first` + position * `strides`.
template <class T>
static Tensor<T> viewOf(const Tensor<T> &x, ArrayRef<int64_t> shape, const Shape &strides, int64_t first = 0) {
  Tensor<T> y(shape);
  size_t next = 0;
  forEachPosition<1>(shape, {strides}, {first}, [&](auto offsets) { y.elements[next++] = x.elements[offsets[0]]; });
  return y;
}

/// Writes x into y, its first element at `first` of y.
template <class T> static void place(const Tensor<T> &x, Tensor<T> &y, int64_t first) {
  size_t next = 0;
  forEachPosition<1>(x.shape, {stridesOf(y.shape)}, {first},
                     [&](auto offsets) { y.elements[offsets[0]] = x.elements[next++]; });
}

/// Applies f to the operand, whatever its element type, and gives the tensor it returns.
template <class E, class F> static LogicalResult giveFrom(Evaluation<E> &e, F f) {
  return std::visit([&](auto &x) { return e.give(f(x)); }, *e.operands[0]);
}

template <class E> LogicalResult ShapeRules<E>::constant(Evaluation<E> &e) {
  return e.give(fromAttribute<E>(cast<graph::ConstantOp>(e.op).getValue()));
}

/// The loss scale is that of the first step: no step that is interpreted overflows.
template <class E> LogicalResult ShapeRules<E>::stepNumber(Evaluation<E> &e) {
  auto op = cast<graph::StepNumberOp>(e.op);
  runtime::StepClock clock = e.clock;
  if (op.getStepNumber() == runtime::StepNumber::LossScale) {
    std::optional<LossScale> scale = LossScale::of(op->template getParentOfType<ModuleOp>());
    if (!scale)
      return op.emitOpError() << "needs the module attribute " << graph::kLossScale;
    clock.lossScale = scale->initial;
  }
  runtime::StepValue value = runtime::valueOf(op.getStepNumber(), {}, clock);
  if (const auto *integer = std::get_if<int64_t>(&value))
    return e.give(Integers(Shape{}, *integer));
  return e.give(Tensor<E>({}, fromDouble<E>(std::get<double>(value))));
}

template <class E> LogicalResult ShapeRules<E>::site(Evaluation<E> &e) {
  return e.give(Integers(Shape{}, (int64_t)runtime::subsequenceOfSite(cast<graph::SiteOp>(e.op).getSite())));
}

template <class E> LogicalResult ShapeRules<E>::randomBits(Evaluation<E> &e) {
  Integers y(Shape(e.resultShape()));
  const Integers &index = e.integers(0), &key = e.integers(1), &subsequence = e.integers(2);
  for (size_t i = 0; i < y.elements.size(); ++i)
    y.elements[i] = int32_t(runtime::drawWord(index.elements[i], subsequence.elements[i], key.elements[i]));
  return e.give(std::move(y));
}

template <class E> LogicalResult ShapeRules<E>::iota(Evaluation<E> &e) {
  auto op = cast<graph::IotaOp>(e.op);
  Integers y(e.resultShape());
  Shape strides(y.shape.size(), 0);
  strides[op.getDimension()] = 1;
  size_t next = 0;
  forEachPosition<1>(y.shape, {strides}, {0}, [&](auto offsets) { y.elements[next++] = offsets[0]; });
  if (cast<RankedTensorType>(op.getY().getType()).getElementType().isInteger())
    return e.give(std::move(y));
  Tensor<E> floats(y.shape);
  llvm::transform(y.elements, floats.elements.begin(), fromInteger<E>);
  return e.give(std::move(floats));
}

template <class E> LogicalResult ShapeRules<E>::broadcast(Evaluation<E> &e) {
  return giveFrom(e, [&](auto &x) {
    ArrayRef<int64_t> shape = e.resultShape();
    Shape strides(shape.size(), 0), own = stridesOf(x.shape);
    size_t added = shape.size() - x.shape.size();
    for (size_t i = 0; i < own.size(); ++i)
      strides[added + i] = x.shape[i] == 1 ? 0 : own[i];
    return viewOf(x, shape, strides);
  });
}

template <class E> LogicalResult ShapeRules<E>::reshape(Evaluation<E> &e) {
  return giveFrom(e, [&](auto &x) {
    auto y = x;
    y.shape = Shape(e.resultShape());
    return y;
  });
}

template <class E> LogicalResult ShapeRules<E>::transpose(Evaluation<E> &e) {
  auto op = cast<graph::TransposeOp>(e.op);
  return giveFrom(e, [&](auto &x) {
    Shape strides, own = stridesOf(x.shape);
    for (int64_t dimension : op.getPermutation())
      strides.push_back(own[dimension]);
    return viewOf(x, e.resultShape(), strides);
  });
}

template <class E> LogicalResult ShapeRules<E>::slice(Evaluation<E> &e) {
  auto op = cast<graph::SliceOp>(e.op);
  return giveFrom(e, [&](auto &x) {
    Shape strides = stridesOf(x.shape);
    int64_t first = 0;
    for (size_t i = 0; i < strides.size(); ++i) {
      first += op.getOffsets()[i] * strides[i];
      strides[i] *= op.getStrides()[i];
    }
    return viewOf(x, e.resultShape(), strides, first);
  });
}

template <class E> LogicalResult ShapeRules<E>::concat(Evaluation<E> &e) {
  int64_t dimension = cast<graph::ConcatOp>(e.op).getDimension();
  return giveFrom(e, [&](auto &x) {
    using T = std::decay_t<decltype(x)>;
    T y(e.resultShape());
    int64_t stride = stridesOf(y.shape)[dimension], first = 0;
    for (const Datum<E> *operand : e.operands) {
      auto &piece = std::get<T>(*operand);
      place(piece, y, first);
      first += piece.shape[dimension] * stride;
    }
    return y;
  });
}

template <class E> LogicalResult ShapeRules<E>::pad(Evaluation<E> &e) {
  auto op = cast<graph::PadOp>(e.op);
  return giveFrom(e, [&](auto &x) {
    using T = std::decay_t<decltype(x)>;
    T y(e.resultShape(), std::get<T>(*e.operands[1]).elements[0]);
    int64_t first = 0;
    for (auto [low, stride] : llvm::zip(op.getLow(), stridesOf(y.shape)))
      first += low * stride;
    place(x, y, first);
    return y;
  });
}

namespace {
/// A table [before, size, after] and where `indices` point into its middle dimension.
struct Lookup {
  int64_t before, size, after;
  ArrayRef<int64_t> indices;

  Lookup(ArrayRef<int64_t> table, int64_t dimension, const Integers &indices)
      : before(countOf(table.take_front(dimension))), size(table[dimension]),
        after(countOf(table.drop_front(dimension + 1))), indices(indices.elements) {}

  /// Calls visit(offset of a run in the table, offset in the gathered tensor); runs have length `after`.
  template <class Visit> LogicalResult forEachRun(Operation *op, Visit visit) const {
    for (int64_t index : indices)
      if (index < 0 || index >= size)
        return op->emitOpError() << "has index " << index << ", which is out of range for a dimension of size " << size;
    int64_t gathered = 0;
    for (int64_t outer = 0; outer < before; ++outer)
      for (int64_t index : indices) {
        visit((outer * size + index) * after, gathered);
        gathered += after;
      }
    return success();
  }
};
} // namespace

template <class E> LogicalResult ShapeRules<E>::gather(Evaluation<E> &e) {
  return std::visit(
      [&](auto &table) -> LogicalResult {
        Lookup lookup(table.shape, cast<graph::GatherOp>(e.op).getDimension(), e.integers(1));
        std::decay_t<decltype(table)> y(e.resultShape());
        if (failed(lookup.forEachRun(e.op, [&](int64_t from, int64_t to) {
              std::copy_n(table.elements.begin() + from, lookup.after, y.elements.begin() + to);
            })))
          return failure();
        return e.give(std::move(y));
      },
      *e.operands[0]);
}

template <class E> LogicalResult ShapeRules<E>::scatterAdd(Evaluation<E> &e) {
  Tensor<E> y(e.resultShape());
  Lookup lookup(y.shape, cast<graph::ScatterAddOp>(e.op).getDimension(), e.integers(0));
  const Tensor<E> &updates = e.floats(1);
  if (failed(lookup.forEachRun(e.op, [&](int64_t to, int64_t from) {
        for (int64_t i = 0; i < lookup.after; ++i)
          y.elements[to + i] += updates.elements[from + i];
      })))
    return failure();
  return e.give(std::move(y));
}

/// Walks `few`, a tensor of as many elements along `dimension` of `many` as there are indices: visit(offset in many,
/// offset in few).
template <class Visit>
static LogicalResult forEachElement(Operation *op, ArrayRef<int64_t> many, ArrayRef<int64_t> few,
                                    const Integers &indices, int64_t dimension, Visit visit) {
  Shape strides = stridesOf(many), ofIndices(few.size(), 0), own = stridesOf(indices.shape);
  int64_t stride = strides[dimension], lacking = few.size() - own.size(), next = 0;
  strides[dimension] = 0;
  llvm::copy(own, ofIndices.begin() + lacking);
  for (int64_t index : indices.elements)
    if (index < 0 || index >= many[dimension])
      return op->emitOpError() << "has index " << index << ", which is out of range for a dimension of size "
                               << many[dimension];
  forEachPosition<2>(few, {strides, ofIndices}, {0, 0},
                     [&](auto offsets) { visit(offsets[0] + indices.elements[offsets[1]] * stride, next++); });
  return success();
}

template <class E> LogicalResult ShapeRules<E>::gatherElements(Evaluation<E> &e) {
  return std::visit(
      [&](auto &x) -> LogicalResult {
        std::decay_t<decltype(x)> y(e.resultShape());
        int64_t dimension = cast<graph::GatherElementsOp>(e.op).getDimension();
        if (failed(forEachElement(e.op, x.shape, y.shape, e.integers(1), dimension,
                                  [&](int64_t from, int64_t to) { y.elements[to] = x.elements[from]; })))
          return failure();
        return e.give(std::move(y));
      },
      *e.operands[0]);
}

template <class E> LogicalResult ShapeRules<E>::scatterElementsAdd(Evaluation<E> &e) {
  Tensor<E> y(e.resultShape());
  const Tensor<E> &updates = e.floats(1);
  int64_t dimension = cast<graph::ScatterElementsAddOp>(e.op).getDimension();
  if (failed(forEachElement(e.op, y.shape, updates.shape, e.integers(0), dimension,
                            [&](int64_t to, int64_t from) { y.elements[to] += updates.elements[from]; })))
    return failure();
  return e.give(std::move(y));
}

/// What an element is after one more update.
template <class T> static T put(graph::Scatter kind, T there, T update) {
  switch (kind) {
  case graph::Scatter::last:
    return update;
  case graph::Scatter::max:
    return larger(there, update);
  case graph::Scatter::min:
    return smaller(there, update);
  }
  llvm_unreachable("every kind has its case");
}

template <class E> LogicalResult ShapeRules<E>::scatterElements(Evaluation<E> &e) {
  auto scatter = cast<graph::ScatterElementsOp>(e.op);
  return std::visit(
      [&](auto &base) -> LogicalResult {
        std::decay_t<decltype(base)> y = base;
        auto &updates = std::get<std::decay_t<decltype(base)>>(*e.operands[2]);
        Integers indices = e.integers(1);
        if (scatter.isByRow()) { // a copy for each element of a row
          int64_t width = countOf(ArrayRef<int64_t>(y.shape).drop_front(scatter.getDimension() + 1));
          Integers each(Shape(ArrayRef<int64_t>(updates.shape).take_back(indices.shape.size())));
          for (auto [i, index] : llvm::enumerate(each.elements))
            index = indices.elements[i / width];
          indices = std::move(each);
        }
        if (failed(forEachElement(e.op, y.shape, updates.shape, indices, scatter.getDimension(),
                                  [&](int64_t to, int64_t from) {
                                    y.elements[to] = put(scatter.getKind(), y.elements[to], updates.elements[from]);
                                  })))
          return failure();
        return e.give(std::move(y));
      },
      *e.operands[0]);
}

XLC_INSTANTIATE_RULES(xlc::interpret::ShapeRules);
