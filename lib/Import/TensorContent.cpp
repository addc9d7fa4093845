// Compares tensors by digests, so that each is read once regardless of their number. One digest does not depend on the
// order of the elements: a weight that the exporter transposed or permuted has that of the original, and the order is
// compared only if it agrees.
#include "TensorContent.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <numeric>

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr size_t maximumPermuted = 5; ///< dimensions of which all orders are tried

/// Spreads the bits of one element over 64.
uint64_t mix(uint32_t bits) {
  uint64_t x = (bits + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

/// Dimensions that are not of size 1.
SmallVector<int64_t> findLong(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dimensions;
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      dimensions.push_back((int64_t)d);
  return dimensions;
}

SmallVector<int64_t> pick(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
  return llvm::map_to_vector(dimensions, [&](int64_t d) { return shape[d]; });
}

} // namespace

TensorContent xlc::onnx::digest(ArrayRef<float> elements) {
  TensorContent content;
  content.count = (int64_t)elements.size();
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(elements.data()), elements.size() * sizeof(float));
  content.ordered = xxh3_64bits(bytes);
  for (float element : elements)
    content.unordered += mix(llvm::bit_cast<uint32_t>(element));
  content.isUniform =
      elements.size() <= 1 || std::memcmp(&elements[0], &elements[1], bytes.size() - sizeof(float)) == 0;
  content.value = elements.empty() ? 0 : elements.front();
  return content;
}

void xlc::onnx::roundTo(int elementType, MutableArrayRef<float> elements) {
  if (!isHalf(elementType))
    return;
  const fltSemantics &type = elementType == 10 ? APFloat::IEEEhalf() : APFloat::BFloat();
  for (float &element : elements) {
    APFloat rounded(element);
    bool loses;
    rounded.convert(type, APFloat::rmNearestTiesToEven, &loses);
    rounded.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
    element = rounded.convertToFloat();
  }
}

SmallVector<TensorView> xlc::onnx::findViews(ArrayRef<int64_t> from, ArrayRef<int64_t> to, bool regroups) {
  SmallVector<TensorView> views;
  if (from == to)
    views.push_back({});
  SmallVector<int64_t> order = findLong(from), wanted = pick(to, findLong(to)), ones;
  for (auto [d, size] : llvm::enumerate(from))
    if (size == 1)
      ones.push_back((int64_t)d);
  if (regroups && from != to)
    views.push_back({{}, to.vec()});
  bool isFirst = true; // moves nothing
  do {
    bool isKnown = isFirst && !views.empty();
    if (pick(from, order) == ArrayRef(wanted) && !isKnown) {
      TensorView &view = views.emplace_back();
      if (!isFirst) {
        view.permutation.assign(order.begin(), order.end());
        view.permutation.insert(view.permutation.end(), ones.begin(), ones.end());
      }
      SmallVector<int64_t> shape = isFirst ? SmallVector<int64_t>(from) : pick(from, view.permutation);
      if (ArrayRef(shape) != to)
        view.shape = to.vec();
    }
    isFirst = false;
  } while (order.size() <= maximumPermuted && std::next_permutation(order.begin(), order.end()));
  return views;
}

bool xlc::onnx::isEqualView(ArrayRef<float> elements, ArrayRef<int64_t> shape, const TensorView &view,
                            ArrayRef<float> expected) {
  if (elements.size() != expected.size())
    return false;
  if (view.permutation.empty() || elements.empty())
    return std::memcmp(elements.data(), expected.data(), elements.size() * sizeof(float)) == 0;
  SmallVector<int64_t> strides(shape.size(), 1), index(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  int64_t at = 0;
  for (float element : expected) {
    if (llvm::bit_cast<uint32_t>(element) != llvm::bit_cast<uint32_t>(elements[at]))
      return false;
    for (size_t i = view.permutation.size(); i-- > 0;) { // the next index, last dimension first
      int64_t d = view.permutation[i];
      at += strides[d];
      if (++index[i] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[i] = 0;
    }
  }
  return true;
}
