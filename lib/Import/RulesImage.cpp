// Import rules that rearrange and resample: repeats, borders that mirror, blocks of pixels, sizes of images. A
// resampled dimension is a matrix [out, in] of weights, known when the model is compiled; each dimension takes one
// product.
#include "ReadInputs.h"

#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

bool xlc::onnx::importTile(NodeImport &n) {
  std::optional<Shape> repeats;
  Shape shape = n.shape(0), apart, wide, result;
  Value x = n.value(0);
  if (!x || !readInts(n, 1, "repeats", repeats))
    return false;
  if (repeats->size() != shape.size() || llvm::any_of(*repeats, [](int64_t count) { return count < 1; }))
    return n.fail("needs a positive number of repeats for each of " + Twine(shape.size()) + " dimensions");
  for (auto [size, count] : llvm::zip(shape, *repeats)) {
    apart.append({1, size});
    wide.append({count, size});
    int64_t product;
    if (llvm::MulOverflow(count, size, product))
      return n.fail("has a repeat count of " + Twine(count) + ", which is too large for a dimension of size " +
                    Twine(size));
    result.push_back(product);
  }
  return n.produce(n.reshape(n.broadcast(n.reshape(x, apart), wide), result));
}

/// Reads dimension `axis` at `places`.
static Value takeAlong(Formula f, Value x, ArrayRef<int64_t> places, int64_t axis) {
  return f.gather(x, f.integers(places), axis);
}

/// The borders repeat what is inside. Amounts per dimension may be negative, which cuts off.
Value xlc::onnx::padByCopy(NodeImport &n, Value x, StringRef mode, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  Formula f{n};
  for (int64_t d = 0; d < f.rankOf(x); ++d) {
    int64_t size = graph::typeOf(x).getDimSize(d), length = size + low[d] + high[d];
    if (low[d] == 0 && high[d] == 0)
      continue;
    if (length > maximumStored)
      return n.fail("pads a dimension to " + Twine(length) + " elements, but at most " + Twine(maximumStored) +
                    " are supported"),
             Value();
    int64_t period = mode == "reflect" ? std::max<int64_t>(2 * (size - 1), 1) : size;
    SmallVector<int64_t> places;
    for (int64_t i = -low[d]; i < length - low[d]; ++i) {
      int64_t wrapped = (i % period + period) % period;
      places.push_back(mode == "edge"      ? std::clamp<int64_t>(i, 0, size - 1)
                       : mode == "reflect" ? std::min(wrapped, period - wrapped)
                                           : wrapped);
    }
    x = takeAlong(f, x, places, d);
  }
  return x;
}

/// Blocks of b x b pixels are channels; DCR and CRD differ in which of the two varies faster.
bool xlc::onnx::importDepthToSpace(NodeImport &n) {
  Shape s = n.shape(0);
  int64_t b = getInt(n.node, "blocksize", 0);
  std::string mode = getString(n.node, "mode", "DCR");
  Value x = n.value(0);
  if (!x || s.size() != 4 || b < 1 || b > 1024 || s[1] % (b * b) != 0 || (mode != "DCR" && mode != "CRD"))
    return n.fail("needs an input of rank 4 whose channels are a multiple of blocksize^2, and mode DCR or CRD");
  int64_t depth = s[1] / (b * b);
  Value y = mode == "DCR" ? n.transpose(n.reshape(x, {s[0], b, b, depth, s[2], s[3]}), {0, 3, 4, 1, 5, 2})
                          : n.transpose(n.reshape(x, {s[0], depth, b, b, s[2], s[3]}), {0, 1, 4, 2, 5, 3});
  return n.produce(n.reshape(y, {s[0], depth, s[2] * b, s[3] * b}));
}

bool xlc::onnx::importSpaceToDepth(NodeImport &n) {
  Shape s = n.shape(0);
  int64_t b = getInt(n.node, "blocksize", 0);
  Value x = n.value(0);
  if (!x || s.size() != 4 || b < 1 || b > 1024 || s[2] % b != 0 || s[3] % b != 0)
    return n.fail("needs an input of rank 4 whose last two dimensions are multiples of blocksize");
  Value y = n.transpose(n.reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b}), {0, 3, 5, 1, 2, 4});
  return n.produce(n.reshape(y, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

namespace {

/// One dimension to resample, with what the node says for all of them.
struct Resampling {
  std::string mode, coordinates, rounding;
  double cubic, scale = 1;
  bool excludesOutside, antialias;
  int64_t in = 1, out = 1;

  explicit Resampling(const Node &node)
      : mode(getString(node, "mode", "nearest")),
        coordinates(getString(node, "coordinate_transformation_mode", "half_pixel")),
        rounding(getString(node, "nearest_mode", "round_prefer_floor")), cubic(getFloat(node, "cubic_coeff_a", -0.75)),
        excludesOutside(getInt(node, "exclude_outside", 0)), antialias(getInt(node, "antialias", 0)) {}

  bool isKnown() const {
    StringRef forms[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"};
    StringRef roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    return llvm::is_contained(forms, coordinates) && llvm::is_contained(roundings, rounding) &&
           (mode == "nearest" || mode == "linear" || mode == "cubic");
  }

  /// Where output o lies in the input.
  double coordinateOf(int64_t o) const {
    double middle = ((double)o + 0.5) / scale - 0.5;
    if (coordinates == "align_corners")
      return out == 1 ? 0 : (double)o * (double)(in - 1) / (double)(out - 1);
    if (coordinates == "asymmetric")
      return (double)o / scale;
    if (coordinates == "pytorch_half_pixel" && out == 1)
      return 0;
    if (coordinates == "half_pixel_symmetric")
      return (double)in / 2 * (1 - (double)out / (scale * (double)in)) + ((double)o + 0.5) / scale - 0.5;
    return middle;
  }

  int64_t nearestOf(int64_t o) const {
    double x = coordinateOf(o);
    double place = rounding == "round_prefer_floor"  ? std::ceil(x - 0.5)
                   : rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
                   : rounding == "floor"             ? std::floor(x)
                                                     : std::ceil(x);
    return std::clamp<int64_t>((int64_t)place, 0, in - 1);
  }

  /// The weight of a neighbour at a distance: a tent, or Keys' cubic.
  double weightAt(double distance) const {
    double x = std::abs(distance), a = cubic;
    if (mode == "linear")
      return std::max(1 - x, 0.0);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }

  /// [out, in]: neighbours outside are the nearest inside, or nothing; antialiasing widens the filter to what one
  /// output stands for.
  SmallVector<float> makeWeights() const {
    SmallVector<float> weights(out * in, 0.0f);
    double narrow = antialias ? std::min(scale, 1.0) : 1, reach = (mode == "linear" ? 1 : 2) / narrow;
    for (int64_t o = 0; o < out; ++o) {
      double x = coordinateOf(o), total = 0;
      std::vector<double> row(in, 0.0);
      for (int64_t i = (int64_t)std::floor(x - reach); i <= (int64_t)std::ceil(x + reach); ++i) {
        double weight = weightAt(((double)i - x) * narrow);
        if (excludesOutside && (i < 0 || i >= in))
          continue;
        row[std::clamp<int64_t>(i, 0, in - 1)] += weight;
        total += weight;
      }
      for (int64_t i = 0; i < in; ++i)
        weights[o * in + i] = (float)((excludesOutside || antialias) && total != 0 ? row[i] / total : row[i]);
    }
    return weights;
  }
};

Value resample(NodeImport &n, Value x, int64_t axis, const Resampling &r) {
  Formula f{n};
  if (r.mode == "nearest") {
    SmallVector<int64_t> places;
    for (int64_t o = 0; o < r.out; ++o)
      places.push_back(r.nearestOf(o));
    return takeAlong(f, x, places, axis);
  }
  auto type = RankedTensorType::get({r.out, r.in}, n.builder.getF32Type());
  Value weights =
      graph::ConstantOp::create(n.builder, n.loc, type, DenseElementsAttr::get(type, ArrayRef<float>(r.makeWeights())));
  weights = f.convert(weights, graph::typeOf(x).getElementType());
  std::string letters, result;
  for (int64_t d = 0; d < f.rankOf(x); ++d)
    letters += (char)('a' + d);
  result = letters;
  result[axis] = 'z';
  return n.contract(letters + ",z" + letters[axis] + "->" + result, x, weights);
}

/// Sizes and scales of the axes that the node names (all, where it names none).
bool readSizes(NodeImport &n, Shape &axes, SmallVector<double> &scales, Shape &sizes) {
  const ConstantTensor *scaleInput = n.constant(2), *sizeInput = n.constant(3);
  Shape from = n.shape(0);
  axes = getInts(n.node, "axes").value_or(Shape());
  if (axes.empty())
    for (int64_t d = 0; d < (int64_t)from.size(); ++d)
      axes.push_back(d);
  for (int64_t &axis : axes)
    if (std::string problem = normalizeAxis(axis, (int64_t)from.size()); !problem.empty())
      return n.fail(problem);
  bool hasScales = scaleInput && !scaleInput->shape.empty() && scaleInput->shape[0] > 0;
  const ConstantTensor *given = hasScales ? scaleInput : sizeInput;
  if (!given || given->shape.size() != 1 || given->shape[0] != (int64_t)axes.size())
    return n.fail("needs a scale or a size, known when the model is compiled, for each axis");
  ConstantTensor all = given->materialized();
  std::string policy = getString(n.node, "keep_aspect_ratio_policy", "stretch");
  for (size_t i = 0; i < axes.size(); ++i) {
    double in = (double)from[axes[i]];
    scales.push_back(hasScales ? all.asDouble(i) : all.asDouble(i) / in);
    double size = std::clamp(hasScales ? std::floor(in * scales[i]) : all.asDouble(i), -1.0, 1e12);
    sizes.push_back(std::isnan(size) ? -1 : (int64_t)size);
  }
  if (!hasScales && policy != "stretch") {
    double common = policy == "not_larger" ? *llvm::min_element(scales) : *llvm::max_element(scales);
    for (size_t i = 0; i < axes.size(); ++i)
      scales[i] = common, sizes[i] = (int64_t)std::clamp(std::floor(common * (double)from[axes[i]] + 0.5), -1.0, 1e12);
  }
  for (size_t i = 0; i < axes.size(); ++i)
    if (!(scales[i] > 0) || sizes[i] < 1 || sizes[i] > (1 << 20) || sizes[i] * from[axes[i]] > maximumStored)
      return n.fail("resizes " + Twine(from[axes[i]]) + " elements to " + Twine(sizes[i]) + ", which is not supported");
  return true;
}

} // namespace

bool xlc::onnx::importResize(NodeImport &n) {
  Resampling resampling(n.node);
  Value x = readFloats(n, 0);
  if (!x || !resampling.isKnown())
    return n.fail(
        "needs a float input, and a supported mode and coordinate_transformation_mode (not tf_crop_and_resize)");
  Shape axes, sizes;
  SmallVector<double> scales;
  if (!readSizes(n, axes, scales, sizes))
    return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    resampling.in = n.shape(0)[axes[i]], resampling.out = sizes[i], resampling.scale = scales[i];
    if (resampling.in != resampling.out || resampling.scale != 1)
      x = resample(n, x, axes[i], resampling);
  }
  return n.produce(x);
}
