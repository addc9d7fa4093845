// The sources of tensors: constants of the program, and random data keyed by name.
#include "xlc/Interpret/Bounded.h"
#include "xlc/Interpret/Interpret.h"

using namespace mlir;
using namespace xlc::interpret;

namespace xlc::interpret {

template <class E> Datum<E> fromAttribute(ElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getType());
  if (type.getElementType().isInteger()) {
    Integers y(type.getShape());
    bool isBool = type.getElementType().isInteger(1);
    for (auto [element, value] : llvm::zip(y.elements, attribute.getValues<APInt>()))
      element = isBool ? value.getZExtValue() : value.getSExtValue();
    return y;
  }
  Tensor<E> y(type.getShape());
  for (auto [element, value] : llvm::zip(y.elements, attribute.getValues<APFloat>()))
    element = fromDouble<E>(value.convertToDouble());
  return y;
}
template Datum<double> fromAttribute(ElementsAttr);
template Datum<float> fromAttribute(ElementsAttr);
template Datum<Bounded> fromAttribute(ElementsAttr);
template Datum<Field> fromAttribute(ElementsAttr);

/// A real in [-1, 1) with 23 random bits, exact in float, or the element of the field itself.
template <class E> static E fromHash(uint64_t hash) { return E(int64_t(hash >> 40) - (1 << 23)) / E(1 << 23); }
template <> Field fromHash<Field>(uint64_t hash) { return Field::ofUnsigned(hash); }

template <class E> Tensor<E> randomTensor(ArrayRef<int64_t> shape, StringRef key, uint64_t seed, int64_t first) {
  Tensor<E> y(shape);
  uint64_t name = keyOf(key, seed);
  for (auto [place, element] : llvm::enumerate(y.elements))
    element = fromHash<E>(hashOf(name, first + place));
  return y;
}
template Tensor<double> randomTensor(ArrayRef<int64_t>, StringRef, uint64_t, int64_t);
template Tensor<float> randomTensor(ArrayRef<int64_t>, StringRef, uint64_t, int64_t);
template Tensor<Field> randomTensor(ArrayRef<int64_t>, StringRef, uint64_t, int64_t);

Integers randomIntegers(ArrayRef<int64_t> shape, StringRef key, uint64_t seed, int64_t limit, int64_t first) {
  Integers y(shape);
  for (auto [place, element] : llvm::enumerate(y.elements))
    element = hashOf(key, seed, first + place) % uint64_t(std::max<int64_t>(limit, 1));
  return y;
}

} // namespace xlc::interpret
