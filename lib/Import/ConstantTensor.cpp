// See ConstantTensor.h.
#include "ConstantTensor.h"

#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace xlc::onnx;

int64_t xlc::onnx::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool xlc::onnx::hasStrides(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  return llvm::none_of(shape, [&](int64_t size) { return MulOverflow(product, std::max<int64_t>(size, 1), product); });
}

Shape xlc::onnx::getStrides(ArrayRef<int64_t> stored) {
  Shape strides(stored.size(), 0);
  int64_t stride = 1;
  for (int64_t d = (int64_t)stored.size() - 1; d >= 0; --d) {
    strides[d] = stored[d] == 1 ? 0 : stride;
    stride *= stored[d];
  }
  return strides;
}

bool xlc::onnx::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b, Shape &result) {
  size_t rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (size_t i = 1; i <= rank; ++i) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    result[rank - i] = x == 1 ? y : x;
  }
  return true;
}

ConstantTensor::ConstantTensor(ElementType type, ArrayRef<int64_t> shape, ArrayRef<int64_t> stored)
    : type(type), shape(shape), stored(stored) {
  if (!hasStrides(stored) || countElements(stored) > maximumStored)
    throw TooManyElements();
  if (isFloat(type))
    floats.resize(countElements(stored));
  else
    ints.resize(countElements(stored));
}

template <typename From, typename To> static void convertBytes(const std::string &bytes, std::vector<To> &to) {
  for (size_t i = 0; i < to.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value); // NOLINT(bugprone-signed-char-misuse): INT8 has a sign
  }
}

ConstantTensor ConstantTensor::fromFile(const FileTensor &tensor) {
  ConstantTensor result(tensor.type, tensor.shape);
  switch (tensor.type) {
  case ElementType::Float:
    convertBytes<float>(tensor.bytes, result.floats);
    break;
  case ElementType::Double:
    convertBytes<double>(tensor.bytes, result.floats);
    break;
  case ElementType::Int64:
    convertBytes<int64_t>(tensor.bytes, result.ints);
    break;
  case ElementType::Int32:
    convertBytes<int32_t>(tensor.bytes, result.ints);
    break;
  case ElementType::Int8:
    convertBytes<int8_t>(tensor.bytes, result.ints);
    break;
  case ElementType::Uint8:
  case ElementType::Bool:
    convertBytes<uint8_t>(tensor.bytes, result.ints);
    break;
  }
  if (tensor.type == ElementType::Bool)
    for (int64_t &value : result.ints)
      value = value != 0;
  return result;
}

ConstantTensor ConstantTensor::ofInts(ArrayRef<int64_t> values) {
  ConstantTensor result(ElementType::Int64, {(int64_t)values.size()});
  result.ints.assign(values.begin(), values.end());
  return result;
}

ConstantTensor ConstantTensor::ofFloat(double value) {
  ConstantTensor result(ElementType::Float, {});
  result.floats[0] = value;
  return result;
}

void ConstantTensor::set(size_t i, double value) {
  if (type == ElementType::Float)
    floats[i] = (float)value;
  else if (isFloat(type))
    floats[i] = value;
  else
    ints[i] = std::isnan(value) ? 0 : (int64_t)std::clamp(value, -9.2e18, 9.2e18);
}

ConstantTensor ConstantTensor::materialized() const {
  return stored == shape ? *this : [&] {
    ConstantTensor result(type, shape);
    size_t i = 0;
    walk(shape, {getStrides(stored)}, [&](ArrayRef<int64_t> offset) {
      if (isFloat(type))
        result.floats[i++] = floats[offset[0]];
      else
        result.ints[i++] = ints[offset[0]];
    });
    return result;
  }();
}

ConstantTensor ConstantTensor::broadcastTo(ArrayRef<int64_t> newShape) const {
  ConstantTensor result = *this;
  size_t added = newShape.size() - shape.size();
  result.shape.assign(newShape.begin(), newShape.end());
  result.stored.insert(result.stored.begin(), added, 1);
  return result;
}

template <typename T> static bool repeatsAlong(const std::vector<T> &data, int64_t outer, int64_t size, int64_t inner) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 1; i < size; ++i)
      if (std::memcmp(&data[o * size * inner], &data[(o * size + i) * inner], inner * sizeof(T)) != 0)
        return false;
  return true;
}

template <typename T> static void keepFirst(std::vector<T> &data, int64_t outer, int64_t size, int64_t inner) {
  for (int64_t o = 1; o < outer; ++o)
    std::copy_n(data.begin() + o * size * inner, inner, data.begin() + o * inner);
  data.resize(outer * inner);
}

void ConstantTensor::compress() {
  if (numStored() == 0)
    return;
  for (size_t d = 0; d < stored.size(); ++d) {
    int64_t outer = countElements(ArrayRef(stored).take_front(d)),
            inner = countElements(ArrayRef(stored).drop_front(d + 1));
    int64_t size = stored[d];
    if (size == 1)
      continue;
    bool repeats = isFloat(type) ? repeatsAlong(floats, outer, size, inner) : repeatsAlong(ints, outer, size, inner);
    if (!repeats)
      continue;
    isFloat(type) ? keepFirst(floats, outer, size, inner) : keepFirst(ints, outer, size, inner);
    stored[d] = 1;
  }
}
