// See Operands.h.
#include "Operands.h"
#include "xlc/Interpret/Parallel.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;

namespace {
constexpr int64_t smallArena = 1 << 20; // looked at as a whole after each call
constexpr int64_t guardBytes = 4096;    // of larger ones, on both sides of each result

template <class T> T readAs(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
} // namespace

double verify::readFloat(const char *at, Type element) {
  if (element.isF32())
    return readAs<float>(at);
  if (element.isF64())
    return readAs<double>(at);
  return element.isBF16() ? runtime::fromBf16(readAs<uint16_t>(at)) : runtime::fromHalf(readAs<uint16_t>(at));
}

int64_t verify::readInteger(const char *at, int64_t bytes) {
  return bytes == 8 ? readAs<int64_t>(at) : bytes == 4 ? readAs<int32_t>(at) : readAs<uint8_t>(at);
}

Operand Operand::of(MemRefType type, char *at) {
  SmallVector<int64_t> strides;
  int64_t ignored;                                  // where a view begins is in its address
  (void)type.getStridesAndOffset(strides, ignored); // Memory makes strided layouts only
  return {at, type.getElementType(), Shape(type.getShape()), Shape(strides.begin(), strides.end())};
}

int64_t Operand::span() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    last += (size - 1) * stride;
  return count() == 0 ? 0 : (last + 1) * bytes();
}

bool Operand::isContiguous() const {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0; expected *= sizes[d])
    if (sizes[d] != 1 && strides[d] != expected)
      return false;
  return true;
}

Operand Operand::piece(int64_t first, int64_t count) const { return of(element, count, at + first * bytes()); }

Datum<Bounded> verify::read(const Operand &operand, const Shape *shape) {
  const Shape &sizes = shape ? *shape : operand.sizes;
  assert(interpret::countOf(sizes) == operand.count() && "a shape has all elements of what is read");
  int64_t next = 0, bytes = operand.bytes();
  if (operand.element.isInteger()) {
    Integers value(sizes);
    operand.forEach([&](const char *at) { value.elements[next++] = readInteger(at, bytes); });
    return value;
  }
  Tensor<Bounded> value(sizes);
  if (operand.isContiguous()) {
    interpret::forEachPiece(value.elements.size(), [&](int64_t first, int64_t count) {
      for (int64_t i = first; i < first + count; ++i)
        value.elements[i] = Bounded(readFloat(operand.at + i * bytes, operand.element));
    });
    return value;
  }
  operand.forEach([&](const char *at) { value.elements[next++] = Bounded(readFloat(at, operand.element)); });
  return value;
}

Surroundings::Surroundings(char *arena, int64_t bytes, ArrayRef<Operand> results, ArrayRef<Operand> scratch)
    : arena(arena), bytes(bytes), mayChange(results) {
  mayChange.insert(mayChange.end(), scratch.begin(), scratch.end());
  if (bytes <= smallArena)
    add(arena, arena + bytes);
  for (const Operand &operand : mayChange) {
    if (bytes <= smallArena)
      break;
    char *end = operand.at + operand.span();
    if (operand.isContiguous()) {
      add(operand.at - guardBytes, operand.at);
      add(end, end + guardBytes);
    } else {
      add(operand.at - guardBytes, end + guardBytes);
    }
  }
}

void Surroundings::add(char *begin, char *end) {
  begin = std::max(begin, arena), end = std::min(end, arena + bytes);
  if (begin < end)
    windows.push_back({begin, end, std::vector<char>(begin, end)});
}

int64_t Surroundings::findChanged() const {
  for (const Window &window : windows) {
    std::vector<char> expected = window.before;
    auto take = [&](char *at, int64_t count) { // what may be there now
      char *begin = std::max(at, window.begin), *end = std::min(at + count, window.end);
      if (begin < end)
        std::memcpy(&expected[begin - window.begin], begin, end - begin);
    };
    for (const Operand &operand : mayChange)
      if (operand.at < window.end && operand.at + operand.span() > window.begin)
        operand.isContiguous() ? take(operand.at, operand.span())
                               : operand.forEach([&](char *at) { take(at, operand.bytes()); });
    auto [now, then] = std::mismatch(window.begin, window.end, expected.begin());
    if (now != window.end)
      return now - arena;
  }
  return -1;
}
