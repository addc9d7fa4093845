// See StoredTypes.h.
#include "StoredTypes.h"

#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr StoredType storedTypes[] = {
    {1, "float", 4, ElementType::Float},
    {2, "uint8", 1, ElementType::Uint8},
    {3, "int8", 1, ElementType::Int8},
    {4, "uint16", 2, ElementType::Int64},
    {5, "int16", 2, ElementType::Int64},
    {6, "int32", 4, ElementType::Int32},
    {7, "int64", 8, ElementType::Int64},
    {8, "string"},
    {9, "bool", 1, ElementType::Bool},
    {10, "float16", 2, ElementType::Float},
    {11, "double", 8, ElementType::Double},
    {12, "uint32", 4, ElementType::Int64},
    {13, "uint64"},
    {14, "complex64"},
    {15, "complex128"},
    {16, "bfloat16", 2, ElementType::Float},
    {17, "float8e4m3fn"},
    {18, "float8e4m3fnuz"},
    {19, "float8e5m2"},
    {20, "float8e5m2fnuz"},
    {21, "uint4"},
    {22, "int4"},
    {23, "float4e2m1"},
};

float floatFromDouble(double value) { return (float)value; }

template <typename From, typename Convert>
void convertEach(const char *from, size_t count, float *to, Convert convertOne) {
  for (size_t i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, from + i * sizeof(From), sizeof(From));
    to[i] = convertOne(element);
  }
}

template <typename From, typename To, typename Convert> void convert(std::string &bytes, Convert convertOne) {
  std::string result(bytes.size() / sizeof(From) * sizeof(To), '\0');
  for (size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, &bytes[i * sizeof(From)], sizeof(From));
    To to = convertOne(from);
    std::memcpy(&result[i * sizeof(To)], &to, sizeof(To));
  }
  bytes = std::move(result);
}

} // namespace

const StoredType *xlc::onnx::findStored(int number) {
  const auto *row = llvm::find_if(storedTypes, [&](const StoredType &type) { return type.number == number; });
  return row == std::end(storedTypes) ? nullptr : row;
}

void xlc::onnx::convertStored(FileTensor &tensor) {
  auto widen = [](auto value) { return (int64_t)value; };
  switch (tensor.storedType) {
  case 4:
    return convert<uint16_t, int64_t>(tensor.bytes, widen);
  case 5:
    return convert<int16_t, int64_t>(tensor.bytes, widen);
  case 12:
    return convert<uint32_t, int64_t>(tensor.bytes, widen);
  case 10:
    return convert<uint16_t, float>(tensor.bytes, xlc::runtime::fromHalf);
  case 16:
    return convert<uint16_t, float>(tensor.bytes, xlc::runtime::fromBf16);
  case 11:
    if (tensor.type == ElementType::Float)
      convert<double, float>(tensor.bytes, floatFromDouble);
    return;
  default:
    return;
  }
}

int64_t xlc::onnx::byteWidth(int elementType) {
  switch (static_cast<ElementType>(elementType)) {
  case ElementType::Uint8:
  case ElementType::Int8:
  case ElementType::Bool:
    return 1;
  case ElementType::Float:
  case ElementType::Int32:
    return 4;
  case ElementType::Int64:
  case ElementType::Double:
    return 8;
  }
  return 0;
}

std::string xlc::onnx::nameOfType(int elementType) {
  const StoredType *type = findStored(elementType);
  return type ? type->name.str() : std::to_string(elementType);
}

void xlc::onnx::convertToFloats(int elementType, const char *from, size_t count, float *to) {
  switch (elementType) {
  case 10:
    return convertEach<uint16_t>(from, count, to, xlc::runtime::fromHalf);
  case 16:
    return convertEach<uint16_t>(from, count, to, xlc::runtime::fromBf16);
  case 11:
    return convertEach<double>(from, count, to, floatFromDouble);
  default:
    std::memcpy(to, from, count * sizeof(float));
  }
}
