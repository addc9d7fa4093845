// Import rules for convolutions and pools. ONNX describes windows by attributes with defaults, which are parsed once.
//
// Sums over windows are convolutions with ones over one channel, with all planes as samples. So an average pool has no
// op of its own, and its divisor is constant.
#include "Rules.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

constexpr int64_t largest = int64_t(1) << 31;

bool failOutput(NodeImport &n, int64_t size, int64_t most) {
  return n.fail("has an output dimension of " + Twine(size) + " elements; 1 to " + Twine(most) + " are supported");
}

bool failPad(NodeImport &n, int64_t pad) {
  return n.fail("has a pad of " + Twine(pad) + " elements; -2147483647 to 2147483647 are supported");
}

/// The windows of a node over an input of shape [n, channels, spatial...].
struct WindowAttributes {
  Shape in, size, strides, dilations, low, high;
  std::string autoPad;

  /// Reads what the node says; `kernel` is the shape of a weight, or empty.
  bool read(NodeImport &n, ArrayRef<int64_t> kernel) {
    Shape shape = n.shape(0);
    if (shape.size() < 3 || shape.size() > 5 || !isa_and_nonnull<FloatType>(n.elementType(0)))
      return n.fail("needs a float input with one to three spatial dimensions, but its shape is [" + list(shape) + "]");
    in.assign(shape.begin() + 2, shape.end());
    for (int64_t number : in)
      if (number < 1 || number >= largest)
        return n.fail("has a spatial dimension of " + Twine(number) + " elements; 1 to 2147483647 are supported");
    Shape ones(in.size(), 1), zeros(2 * in.size(), 0);
    size = getInts(n.node, "kernel_shape").value_or(Shape(kernel));
    strides = getInts(n.node, "strides").value_or(ones);
    dilations = getInts(n.node, "dilations").value_or(ones);
    Shape pads = getInts(n.node, "pads").value_or(zeros);
    autoPad = getString(n.node, "auto_pad", "NOTSET");
    if (size.size() != in.size() || strides.size() != in.size() || dilations.size() != in.size() ||
        pads.size() != 2 * in.size())
      return n.fail("needs a kernel size, stride, dilation and two pads for each of " + Twine(in.size()) +
                    " spatial dimensions");
    if (!kernel.empty() && ArrayRef<int64_t>(size) != kernel)
      return n.fail("has kernel_shape [" + list(size) + "], but the kernel of its weight is [" + list(kernel) + "]");
    for (const Shape *numbers : {&size, &strides, &dilations})
      for (int64_t number : *numbers)
        if (number < 1 || number >= largest)
          return n.fail("has a kernel size, stride or dilation of " + Twine(number) +
                        "; 1 to 2147483647 are supported");
    for (int64_t pad : pads)
      if (pad <= -largest || pad >= largest)
        return failPad(n, pad);
    if (autoPad != "NOTSET" && autoPad != "VALID" && autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER")
      return n.fail("has auto_pad = '" + autoPad + "'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are supported");
    low.assign(pads.begin(), pads.begin() + in.size());
    high.assign(pads.begin() + in.size(), pads.end());
    return true;
  }

  bool isSame() const { return StringRef(autoPad).starts_with("SAME"); }
  int64_t extent(size_t d) const { return (size[d] - 1) * dilations[d] + 1; }

  /// Sizes of the output; sets the pads that auto_pad stands for.
  bool infer(NodeImport &n, bool ceil, Shape &out) {
    for (size_t d = 0; d < in.size(); ++d) {
      if (autoPad == "VALID")
        low[d] = high[d] = 0;
      if (isSame()) {
        int64_t count = (in[d] + strides[d] - 1) / strides[d];
        int64_t total = std::max<int64_t>(0, (count - 1) * strides[d] + extent(d) - in[d]);
        low[d] = autoPad == "SAME_LOWER" ? total - total / 2 : total / 2;
        high[d] = total - low[d];
      }
      int64_t room = in[d] + low[d] + high[d] - extent(d);
      if (room < 0)
        return n.fail("has windows of " + Twine(extent(d)) + " elements, but the padded dimension has " +
                      Twine(in[d] + low[d] + high[d]));
      int64_t count = (ceil ? room + strides[d] - 1 : room) / strides[d] + 1;
      if (ceil && (count - 1) * strides[d] >= in[d] + low[d])
        --count; // a window must not begin behind the input
      out.push_back(count);
    }
    return true;
  }

  static std::string list(ArrayRef<int64_t> shape) {
    std::string text;
    for (int64_t size : shape)
      text += (text.empty() ? "" : ", ") + std::to_string(size);
    return text;
  }
};

RankedTensorType typed(Value like, ArrayRef<int64_t> outer, ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> shape(outer);
  llvm::append_range(shape, spatial);
  return cast<RankedTensorType>(like.getType()).clone(shape);
}

/// y + b, b of one element for each channel. A bias of known zeros is none.
bool produceBiased(NodeImport &n, Value y) {
  Value bias = n.vanishedBias;
  int64_t channels = shapeOf(y)[1];
  if (n.has(2)) {
    if (n.shape(2) != Shape{channels} || n.elementType(2) != n.elementType(0))
      return n.fail("needs a bias of " + Twine(channels) + " elements of the input's type");
    const ConstantTensor *known = n.constant(2);
    bool isZero = known && llvm::all_of(known->floats, [](double value) { return value == 0; });
    bias = isZero ? Value() : n.value(2);
  }
  if (!bias)
    return n.produce(y);
  SmallVector<int64_t> column(shapeOf(y).size() - 1, 1);
  column[0] = channels;
  Value spread = n.broadcast(n.reshape(bias, column), shapeOf(y));
  return n.produce(graph::AddOp::create(n.builder, n.loc, y.getType(), y, spread));
}

/// The sum over each window of each plane.
Value sumWindows(NodeImport &n, Value x, const WindowAttributes &windows, ArrayRef<int64_t> out) {
  SmallVector<int64_t> shape = shapeOf(x);
  Value planes = n.reshape(x, typed(x, {shape[0] * shape[1], 1}, windows.in).getShape());
  Value one = n.scalar(1, n.elementType(0));
  Value ones = n.broadcast(one, typed(x, {1, 1}, windows.size).getShape());
  Value sums = graph::ConvolutionOp::create(n.builder, n.loc, typed(x, {shape[0] * shape[1], 1}, out), planes, ones, 1,
                                            windows.strides, windows.dilations, windows.low);
  return n.reshape(sums, typed(x, ArrayRef<int64_t>(shape).take_front(2), out).getShape());
}

/// How many elements the windows along dimension `d` have; those of padding too where `withPads`.
Shape countElementsOf(const WindowAttributes &windows, size_t d, int64_t out, bool withPads) {
  Shape counts;
  int64_t begin = withPads ? -windows.low[d] : 0, end = windows.in[d] + (withPads ? windows.high[d] : 0);
  for (int64_t o = 0; o < out; ++o) {
    int64_t start = o * windows.strides[d] - windows.low[d], step = windows.dilations[d];
    int64_t first = start >= begin ? 0 : (begin - start + step - 1) / step;
    int64_t last = std::min(windows.size[d] - 1, start < end ? (end - 1 - start) / step : -1);
    counts.push_back(std::max<int64_t>(0, last - first + 1));
  }
  return counts;
}

/// sums / number of elements of each window: a factor where all are equal along a dimension, else a constant.
Value divideByCounts(NodeImport &n, Value sums, const WindowAttributes &windows, ArrayRef<int64_t> out, bool withPads) {
  int64_t denominator = 1;
  for (size_t d = 0; d < out.size(); ++d) {
    Shape counts = countElementsOf(windows, d, out[d], withPads);
    if (llvm::all_equal(counts)) {
      denominator *= counts.front();
      continue;
    }
    ConstantTensor divisor = ConstantTensor(ElementType::Float, ArrayRef<int64_t>(counts.size()));
    SmallVector<int64_t> column(out.size() - d, 1);
    column[0] = out[d];
    for (auto [i, count] : llvm::enumerate(counts))
      divisor.set(i, (double)count);
    Value constant = materialize(divisor, {out[d]}, n.builder, n.loc);
    if (n.elementType(0).isF64())
      constant = graph::CastOp::create(n.builder, n.loc, RankedTensorType::get({out[d]}, n.elementType(0)), constant);
    Value spread = n.broadcast(n.reshape(constant, column), shapeOf(sums));
    sums = graph::DivOp::create(n.builder, n.loc, sums.getType(), sums, spread);
  }
  return denominator == 1 ? sums
                          : Value(graph::ScaleOp::create(n.builder, n.loc, sums.getType(), sums, 1, denominator));
}

bool isEmptyWindow(const WindowAttributes &windows, ArrayRef<int64_t> out) {
  for (size_t d = 0; d < out.size(); ++d)
    if (llvm::is_contained(countElementsOf(windows, d, out[d], false), 0))
      return true;
  return false;
}

/// Windows of a pool, and the shape they give.
bool readPool(NodeImport &n, WindowAttributes &windows, Shape &out) {
  if (!windows.read(n, {}) || !windows.infer(n, getInt(n.node, "ceil_mode", 0) != 0, out))
    return false;
  for (int64_t size : out)
    if (size > maximumStored)
      return failOutput(n, size, maximumStored);
  return isEmptyWindow(windows, out) ? n.fail("has windows entirely inside the padding") : true;
}

/// One window over everything.
WindowAttributes wholeWindow(NodeImport &n) {
  WindowAttributes windows;
  Shape shape = n.shape(0);
  windows.in.assign(shape.begin() + 2, shape.end());
  windows.size = windows.in;
  windows.strides = windows.dilations = Shape(windows.in.size(), 1);
  windows.low = windows.high = Shape(windows.in.size(), 0);
  return windows;
}

bool hasPlanes(NodeImport &n) {
  size_t rank = n.shape(0).size();
  return rank >= 3 && countElements(n.shape(0)) > 0 && isa_and_nonnull<FloatType>(n.elementType(0))
             ? true
             : n.fail("needs a float input with spatial dimensions");
}

/// The sum over all spatial dimensions, which stay with size 1.
Value sumPlanes(NodeImport &n, Value x) {
  SmallVector<int64_t> shape = shapeOf(x), kept = shape;
  std::fill(kept.begin() + 2, kept.end(), 1);
  auto spatial = llvm::to_vector(llvm::seq<int64_t>(2, (int64_t)shape.size()));
  auto type = cast<RankedTensorType>(x.getType()).clone(ArrayRef<int64_t>(shape).take_front(2));
  return n.reshape(graph::ReduceOp::create(n.builder, n.loc, type, graph::Reduction::sum, x, spatial), kept);
}

/// |x|^p, and its inverse on sums.
Value raise(NodeImport &n, Value x, double p) {
  auto type = cast<RankedTensorType>(x.getType());
  if (p == 2)
    return graph::MulOp::create(n.builder, n.loc, type, x, x);
  Value size = graph::AbsOp::create(n.builder, n.loc, type, x);
  return p == 1 ? size : Value(graph::PowOp::create(n.builder, n.loc, type, size, n.number(p, size)));
}
Value root(NodeImport &n, Value sum, double p) {
  if (p == 2)
    return graph::SqrtOp::create(n.builder, n.loc, sum.getType(), sum);
  return p == 1 ? sum : Value(graph::PowOp::create(n.builder, n.loc, sum.getType(), sum, n.number(1 / p, sum)));
}

} // namespace

/// x [n, groups c, ...], weight [groups f, c, ...].
bool xlc::onnx::importConv(NodeImport &n) {
  Shape weight = n.shape(1), x = n.shape(0);
  int64_t groups = getInt(n.node, "group", 1);
  WindowAttributes windows;
  if (weight.size() != x.size() || weight.size() < 3 || n.elementType(1) != n.elementType(0))
    return n.fail("needs an input and a weight of one type and rank, with spatial dimensions");
  if (groups < 1 || x[1] % groups || weight[0] % groups || weight[1] != x[1] / groups || countElements(weight) == 0)
    return n.fail("has a weight of shape [" + WindowAttributes::list(weight) + "] and group = " + Twine(groups) +
                  ", which do not match an input of " + Twine(x[1]) + " channels");
  Shape out;
  if (!windows.read(n, ArrayRef<int64_t>(weight).drop_front(2)) || !windows.infer(n, false, out))
    return false;
  Value input = n.value(0), w = n.value(1);
  if (!input || !w)
    return false;
  return produceBiased(n, graph::ConvolutionOp::create(n.builder, n.loc, typed(input, {x[0], weight[0]}, out), input, w,
                                                       groups, windows.strides, windows.dilations, windows.low));
}

/// x [n, groups f, ...], weight [groups f, c, ...] -> [n, groups c, ...].
bool xlc::onnx::importConvTranspose(NodeImport &n) {
  Shape weight = n.shape(1), x = n.shape(0), out;
  int64_t groups = getInt(n.node, "group", 1);
  WindowAttributes windows;
  if (weight.size() != x.size() || weight.size() < 3 || n.elementType(1) != n.elementType(0))
    return n.fail("needs an input and a weight of one type and rank, with spatial dimensions");
  if (groups < 1 || x[1] % groups || weight[0] != x[1] || weight[1] > largest / groups || countElements(weight) == 0)
    return n.fail("has a weight of shape [" + WindowAttributes::list(weight) + "] and group = " + Twine(groups) +
                  ", which do not match an input of " + Twine(x[1]) + " channels");
  if (!windows.read(n, ArrayRef<int64_t>(weight).drop_front(2)))
    return false;
  size_t rank = windows.in.size();
  Shape extra = getInts(n.node, "output_padding").value_or(Shape(rank, 0));
  std::optional<Shape> given = getInts(n.node, "output_shape");
  if (extra.size() != rank || (given && given->size() != rank))
    return n.fail("needs output_padding and output_shape, if given, to have one element for each of " + Twine(rank) +
                  " spatial dimensions");
  for (size_t d = 0; d < rank; ++d) {
    if (extra[d] < 0 || extra[d] >= largest)
      return n.fail("has an output padding of " + Twine(extra[d]) + "; 0 to 2147483647 are supported");
    int64_t full = windows.strides[d] * (windows.in[d] - 1) + extra[d] + windows.extent(d);
    if (given || windows.isSame()) {
      out.push_back(given ? (*given)[d] : windows.in[d] * windows.strides[d]);
      int64_t total = full - out[d];
      windows.low[d] = windows.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      bool isValid = windows.autoPad == "VALID";
      windows.low[d] = isValid ? 0 : windows.low[d];
      out.push_back(isValid ? full : full - windows.low[d] - windows.high[d]);
    }
    if (out[d] < 1 || out[d] >= largest)
      return failOutput(n, out[d], largest - 1);
    if (std::abs(windows.low[d]) >= largest)
      return failPad(n, windows.low[d]);
  }
  Value input = n.value(0), w = n.value(1);
  if (!input || !w)
    return false;
  auto type = typed(input, {x[0], weight[1] * groups}, out);
  return produceBiased(n, graph::ConvolutionTransposeOp::create(n.builder, n.loc, type, input, w, groups,
                                                                windows.strides, windows.dilations, windows.low));
}

static bool produceMaxPool(NodeImport &n, const WindowAttributes &windows, ArrayRef<int64_t> out) {
  Value x = n.value(0);
  return x && n.produce(graph::MaxPoolOp::create(n.builder, n.loc,
                                                 typed(x, ArrayRef<int64_t>(n.shape(0)).take_front(2), out), x,
                                                 windows.size, windows.strides, windows.dilations, windows.low));
}

bool xlc::onnx::importMaxPool(NodeImport &n) {
  WindowAttributes windows;
  Shape out;
  if (n.node.outputs.size() > 1 && !n.node.outputs[1].empty())
    return n.fail("has an output for indices, which is not supported");
  return readPool(n, windows, out) && produceMaxPool(n, windows, out);
}

bool xlc::onnx::importGlobalMaxPool(NodeImport &n) {
  if (!hasPlanes(n))
    return false;
  WindowAttributes windows = wholeWindow(n);
  if (windows.in.size() > 3)
    return n.fail("needs one to three spatial dimensions");
  return produceMaxPool(n, windows, Shape(windows.in.size(), 1));
}

bool xlc::onnx::importAveragePool(NodeImport &n) {
  WindowAttributes windows;
  Shape out;
  if (!readPool(n, windows, out))
    return false;
  Value x = n.value(0);
  bool withPads = getInt(n.node, "count_include_pad", 0) != 0;
  return x && n.produce(divideByCounts(n, sumWindows(n, x, windows, out), windows, out, withPads));
}

bool xlc::onnx::importGlobalAveragePool(NodeImport &n) {
  if (!hasPlanes(n))
    return false;
  Value sums = sumPlanes(n, n.value(0));
  int64_t count = countElements(ArrayRef<int64_t>(n.shape(0)).drop_front(2));
  return n.produce(graph::ScaleOp::create(n.builder, n.loc, sums.getType(), sums, 1, count));
}

bool xlc::onnx::importLpPool(NodeImport &n) {
  WindowAttributes windows;
  Shape out;
  double p = (double)getInt(n.node, "p", 2);
  if (p < 1)
    return n.fail("needs p >= 1");
  if (!readPool(n, windows, out))
    return false;
  Value x = n.value(0);
  return x && n.produce(root(n, sumWindows(n, raise(n, x, p), windows, out), p));
}

bool xlc::onnx::importGlobalLpPool(NodeImport &n) {
  double p = (double)getInt(n.node, "p", 2);
  if (p < 1)
    return n.fail("needs p >= 1");
  return hasPlanes(n) && n.produce(root(n, sumPlanes(n, raise(n, n.value(0), p)), p));
}

/// x / (bias + alpha / size * sum of squares over neighbouring channels)^beta.
bool xlc::onnx::importLRN(NodeImport &n) {
  Shape shape = n.shape(0);
  int64_t size = getInt(n.node, "size", 0);
  if (shape.size() < 3 || countElements(shape) == 0 || size < 1 || size >= largest ||
      !isa_and_nonnull<FloatType>(n.elementType(0)))
    return n.fail("needs a float input with spatial dimensions, and a positive attribute 'size'");
  Value x = n.value(0);
  int64_t plane = countElements(ArrayRef<int64_t>(shape).drop_front(2));
  WindowAttributes windows;
  windows.in = {shape[1], plane};
  windows.size = {size, 1};
  windows.strides = windows.dilations = {1, 1};
  windows.low = {(size - 1) / 2, 0};
  Value squares = n.reshape(raise(n, x, 2), {shape[0], 1, shape[1], plane});
  Value sums = n.reshape(sumWindows(n, squares, windows, windows.in), shape);
  auto type = x.getType();
  Value scaled =
      graph::MulOp::create(n.builder, n.loc, type, sums, n.number(getFloat(n.node, "alpha", 1e-4) / (double)size, x));
  Value base = graph::AddOp::create(n.builder, n.loc, type, scaled, n.number(getFloat(n.node, "bias", 1), x));
  Value norm = graph::PowOp::create(n.builder, n.loc, type, base, n.number(getFloat(n.node, "beta", 0.75), x));
  return n.produce(graph::DivOp::create(n.builder, n.loc, type, x, norm));
}
