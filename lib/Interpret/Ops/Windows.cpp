// Rules of convolutions and pools: all of them visit the pairs of an output and an element under its window.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;
using llvm::LogicalResult;

namespace {
/// Where one tensor's plane, and a position in a shape without its first two dimensions, begin.
int64_t sizeOfPlane(llvm::ArrayRef<int64_t> shape) { return countOf(shape.drop_front(2)); }

/// The position of the `n`-th element of `shape` in row-major order.
Shape positionOf(int64_t n, llvm::ArrayRef<int64_t> shape) {
  Shape position(shape.size());
  for (size_t d = shape.size(); d-- > 0; n /= shape[d])
    position[d] = n % shape[d];
  return position;
}

/// Calls visit(output, place in the window, element) for one plane: numbers in row-major order of spatial dimensions.
template <class Op, class Visit>
void forEachMeeting(Op op, llvm::ArrayRef<int64_t> in, llvm::ArrayRef<int64_t> out, llvm::ArrayRef<int64_t> window,
                    Visit visit) {
  for (int64_t o = 0; o < countOf(out); ++o)
    for (int64_t k = 0; k < countOf(window); ++k) {
      Shape outputs = positionOf(o, out), places = positionOf(k, window);
      int64_t element = 0;
      bool isInside = true;
      for (size_t d = 0; d < in.size(); ++d) {
        int64_t i = outputs[d] * op.getStrides()[d] + places[d] * op.getDilations()[d] - op.getPads()[d];
        isInside &= i >= 0 && i < in[d];
        element = element * in[d] + i;
      }
      if (isInside)
        visit(o, k, element);
    }
}

/// Calls visit(x, w, y): the elements of x and of w of which y sums the product.
template <class Op, class Visit>
void forEachProduct(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> w, llvm::ArrayRef<int64_t> y,
                    Visit visit) {
  int64_t groups = op.getGroups(), channels = w[1], features = w[0] / groups;
  int64_t in = sizeOfPlane(x), window = sizeOfPlane(w), out = sizeOfPlane(y);
  forEachMeeting(op, x.drop_front(2), y.drop_front(2), w.drop_front(2), [&](int64_t o, int64_t k, int64_t element) {
    for (int64_t n = 0; n < x[0]; ++n)
      for (int64_t f = 0; f < w[0]; ++f)
        for (int64_t c = 0; c < channels; ++c) {
          int64_t channel = f / features * channels + c;
          visit((n * x[1] + channel) * in + element, (f * channels + c) * window + k, (n * w[0] + f) * out + o);
        }
  });
}

/// The tensors of a convolution y = x w.
enum Part { X, W, Y };

/// The part that the op makes of its operands, which are the two others. Where y sums a product of x and w these three
/// elements belong together: the made one gets the product of the others.
template <class Op, class E> LogicalResult sumProducts(Evaluation<E> &e, Part a, Part b, Part made) {
  Tensor<E> sum(e.resultShape());
  const Tensor<E> *parts[3];
  parts[a] = &e.floats(0), parts[b] = &e.floats(1), parts[made] = &sum;
  forEachProduct(cast<Op>(e.op), parts[X]->shape, parts[W]->shape, parts[Y]->shape,
                 [&](int64_t x, int64_t w, int64_t y) {
                   int64_t at[] = {x, w, y};
                   sum.elements[at[made]] += parts[a]->elements[at[a]] * parts[b]->elements[at[b]];
                 });
  return e.give(std::move(sum));
}

/// Calls visit(plane, output, element) for every element under every window of every plane, outputs in order.
template <class Op, class Visit>
void forEachPooled(Op op, llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y, Visit visit) {
  for (int64_t plane = 0; plane < x[0] * x[1]; ++plane)
    forEachMeeting(op, x.drop_front(2), y.drop_front(2), op.getWindow(), [&](int64_t o, int64_t, int64_t element) {
      visit(plane * sizeOfPlane(y) + o, plane * sizeOfPlane(x) + element);
    });
}

/// For each window the first of its largest elements.
template <class E, class Op> std::vector<int64_t> findLargest(Op op, const Tensor<E> &x, llvm::ArrayRef<int64_t> y) {
  std::vector<int64_t> largest(countOf(y), -1);
  forEachPooled(op, x.shape, y, [&](int64_t output, int64_t element) {
    int64_t &best = largest[output];
    bool isLarger = best >= 0 && (x.elements[element] > x.elements[best] || isUndefined(x.elements[element]));
    if (best < 0 || (isLarger && !isUndefined(x.elements[best])))
      best = element;
  });
  return largest;
}
} // namespace

template <class E> LogicalResult WindowRules<E>::convolution(Evaluation<E> &e) {
  return sumProducts<graph::ConvolutionOp>(e, X, W, Y);
}

template <class E> LogicalResult WindowRules<E>::convolutionTranspose(Evaluation<E> &e) {
  return sumProducts<graph::ConvolutionTransposeOp>(e, Y, W, X);
}

template <class E> LogicalResult WindowRules<E>::convolutionWeightBackward(Evaluation<E> &e) {
  return sumProducts<graph::ConvolutionWeightBackwardOp>(e, X, Y, W);
}

template <class E> LogicalResult WindowRules<E>::maxPool(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0);
  Tensor<E> y(e.resultShape());
  for (auto [element, at] : llvm::zip(y.elements, findLargest(cast<graph::MaxPoolOp>(e.op), x, y.shape)))
    element = x.elements[at];
  return e.give(std::move(y));
}

template <class E> LogicalResult WindowRules<E>::maxPoolBackward(Evaluation<E> &e) {
  const Tensor<E> &x = e.floats(0), &dy = e.floats(1);
  Tensor<E> dx(x.shape);
  for (auto [element, at] : llvm::zip(dy.elements, findLargest(cast<graph::MaxPoolBackwardOp>(e.op), x, dy.shape)))
    dx.elements[at] += element;
  return e.give(std::move(dx));
}

XLC_INSTANTIATE_RULES(xlc::interpret::WindowRules);
