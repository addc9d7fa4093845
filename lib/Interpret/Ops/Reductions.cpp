// Rules that combine many elements into one: reduce, contract, sum of squares, softmax.
#include "Products.h"
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

/// The offsets, in each of N tensors, of the elements along `letters` of an einsum, in row-major order.
template <size_t N>
static std::array<std::vector<int64_t>, N> offsetsAlong(StringRef letters, ArrayRef<int64_t> sizes,
                                                        const std::array<std::pair<StringRef, Shape>, N> &tensors) {
  std::array<Shape, N> strides;
  for (auto [stride, tensor] : llvm::zip(strides, tensors))
    for (char letter : letters) {
      size_t dimension = tensor.first.find(letter);
      stride.push_back(dimension == StringRef::npos ? 0 : tensor.second[dimension]);
    }
  std::array<std::vector<int64_t>, N> offsets;
  forEachPosition<N>(sizes, strides, {}, [&](auto at) {
    for (size_t n = 0; n < N; ++n)
      offsets[n].push_back(at[n]);
  });
  return offsets;
}

/// Letters of an einsum by where they stand: a and b and y, a and y, b and y, a and b.
template <class E> LogicalResult ReductionRules<E>::contract(Evaluation<E> &e) {
  auto op = cast<graph::ContractOp>(e.op);
  const Tensor<E> &a = e.floats(0), &b = e.floats(1);
  StringRef inA = op.getLettersA(), inB = op.getLettersB(), inY = op.getLettersY();
  Tensor<E> y(e.resultShape());
  std::string batch, m, n, k;
  Shape batchSizes, mSizes, nSizes, kSizes;
  for (auto [letter, size] : llvm::zip(inY, y.shape)) {
    bool isInA = inA.contains(letter), isInB = inB.contains(letter);
    (isInA && isInB ? batch : isInA ? m : n).push_back(letter);
    (isInA && isInB ? batchSizes : isInA ? mSizes : nSizes).push_back(size);
  }
  for (auto [letter, size] : llvm::zip(inA, a.shape))
    if (!inY.contains(letter)) { // summed letters are in both operands
      k.push_back(letter);
      kSizes.push_back(size);
    }
  using Side = std::pair<StringRef, Shape>;
  Side sideA{inA, stridesOf(a.shape)}, sideB{inB, stridesOf(b.shape)}, sideY{inY, stridesOf(y.shape)};
  Product product;
  auto [batchA, batchB, batchY] = offsetsAlong<3>(batch, batchSizes, {sideA, sideB, sideY});
  for (auto [offsetA, offsetB, offsetY] : llvm::zip(batchA, batchB, batchY))
    product.batch.push_back({offsetA, offsetB, offsetY});
  std::tie(product.a.rows, product.y.rows) = std::tuple_cat(offsetsAlong<2>(m, mSizes, {sideA, sideY}));
  std::tie(product.b.columns, product.y.columns) = std::tuple_cat(offsetsAlong<2>(n, nSizes, {sideB, sideY}));
  std::tie(product.a.columns, product.b.rows) = std::tuple_cat(offsetsAlong<2>(k, kSizes, {sideA, sideB}));
  if (!y.elements.empty())
    multiply<E>(product, a.elements.data(), b.elements.data(), y.elements.data());
  return e.give(std::move(y));
}

template <class E> LogicalResult ReductionRules<E>::sumSquares(Evaluation<E> &e) {
  SquareSum<E> sum;
  for (E x : e.floats(0).elements)
    sum.add(x);
  return e.give(Tensor<E>({}, sum.get()));
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
template Bounded interpret::softmaxRow(MutableArrayRef<Bounded>, const Functions<Bounded> &);
template Field interpret::softmaxRow(MutableArrayRef<Field>, const Functions<Field> &);
