// Rules that combine many elements into one: reduce, contract, sum of squares, softmax.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

/// Combines the elements of x that share a position outside `dimensions`.
template <class T, class F>
static Tensor<T> combine(const Tensor<T> &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions, T start, F f) {
  Tensor<T> y(shape, start);
  Shape own = stridesOf(shape), strides;
  size_t kept = 0;
  for (size_t i = 0; i < x.shape.size(); ++i)
    strides.push_back(llvm::is_contained(dimensions, int64_t(i)) ? 0 : own[kept++]);
  size_t next = 0;
  forEachPosition<1>(x.shape, {strides}, {0}, [&](auto offsets) {
    T &element = y.elements[offsets[0]];
    element = f(element, x.elements[next++]);
  });
  return y;
}

template <class E> LogicalResult ReductionRules<E>::reduce(Evaluation<E> &e) {
  auto op = cast<graph::ReduceOp>(e.op);
  ArrayRef<int64_t> shape = e.resultShape(), dimensions = op.getDimensions();
  return std::visit(
      [&](auto &x) {
        using T = std::decay_t<decltype(x.elements[0])>;
        auto sum = [](T a, T b) { return a + b; };
        auto product = [](T a, T b) { return a * b; };
        switch (op.getKind()) {
        case graph::Reduction::sum:
          return e.give(combine(x, shape, dimensions, T(), sum));
        case graph::Reduction::max:
          return e.give(combine(x, shape, dimensions, lowest<T>(), larger<T>));
        case graph::Reduction::min:
          return e.give(combine(x, shape, dimensions, highest<T>(), smaller<T>));
        case graph::Reduction::prod:
          return e.give(combine(x, shape, dimensions, fromInteger<T>(1), product));
        }
        llvm_unreachable("all reductions are named");
      },
      *e.operands[0]);
}

/// How far to step in a tensor whose dimensions are `letters` for each letter of `factors`.
static Shape stridesAlong(StringRef letters, ArrayRef<int64_t> shape, StringRef factors) {
  Shape own = stridesOf(shape), strides;
  for (char factor : factors) {
    size_t dimension = letters.find(factor);
    strides.push_back(dimension == StringRef::npos ? 0 : own[dimension]);
  }
  return strides;
}

template <class E> LogicalResult ReductionRules<E>::contract(Evaluation<E> &e) {
  auto op = cast<graph::ContractOp>(e.op);
  const Tensor<E> &a = e.floats(0), &b = e.floats(1);
  StringRef inA = op.getLettersA(), inB = op.getLettersB(), inY = op.getLettersY();

  // The summed letters are in both operands; where each of their terms stands is the same for
  // every element of the result.
  std::string summed;
  Shape sizes;
  for (auto [letter, size] : llvm::zip(inA, a.shape))
    if (!inY.contains(letter)) {
      summed.push_back(letter);
      sizes.push_back(size);
    }
  std::vector<std::array<int64_t, 2>> terms;
  forEachPosition<2>(sizes, {stridesAlong(inA, a.shape, summed), stridesAlong(inB, b.shape, summed)}, {0, 0},
                     [&](auto offsets) { terms.push_back(offsets); });

  Tensor<E> y(e.resultShape());
  size_t next = 0;
  forEachPosition<2>(y.shape, {stridesAlong(inA, a.shape, inY), stridesAlong(inB, b.shape, inY)}, {0, 0},
                     [&](auto base) {
                       ProductSum<E> sum;
                       for (auto [offsetA, offsetB] : terms)
                         sum.add(a.elements[base[0] + offsetA], b.elements[base[1] + offsetB]);
                       y.elements[next++] = sum.get();
                     });
  return e.give(std::move(y));
}

template <class E> LogicalResult ReductionRules<E>::sumSquares(Evaluation<E> &e) {
  // Accumulated in double precision also when the elements are floats.
  using Wide = std::conditional_t<std::is_same_v<E, float>, double, E>;
  ProductSum<Wide> sum;
  for (E x : e.floats(0).elements)
    sum.add(x, x);
  return e.give(Tensor<E>({}, E(sum.get())));
}

template <class E> E interpret::softmaxRow(MutableArrayRef<E> row, const Functions<E> &functions) {
  E maximum = lowest<E>(), sum{};
  for (E x : row)
    maximum = larger(maximum, x);
  for (E &x : row)
    sum += x = functions.exp(x - maximum);
  E inverse = fromInteger<E>(1) / sum;
  for (E &x : row)
    x = x * inverse;
  return maximum + functions.log(sum);
}

template <class E> LogicalResult ReductionRules<E>::softmax(Evaluation<E> &e) {
  Tensor<E> y = e.floats(0);
  MutableArrayRef<E> rows(y.elements);
  size_t length = y.shape.back();
  for (; !rows.empty(); rows = rows.drop_front(length))
    softmaxRow(rows.take_front(length), e.functions);
  return e.give(std::move(y));
}

XLC_INSTANTIATE_RULES(xlc::interpret::ReductionRules);
template double interpret::softmaxRow(MutableArrayRef<double>, const Functions<double> &);
template float interpret::softmaxRow(MutableArrayRef<float>, const Functions<float> &);
template Field interpret::softmaxRow(MutableArrayRef<Field>, const Functions<Field> &);
