// See Lockstep.h.
#include "Lockstep.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Runtime/Narrow.h"
#include <cstring>

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;
using interpret::Narrow;

namespace {

Datum<float> readFloats(const Operand &operand, Type type) {
  Shape shape(cast<RankedTensorType>(type).getShape());
  Datum<Bounded> exact = read(operand, &shape);
  if (auto *integers = std::get_if<Integers>(&exact))
    return std::move(*integers);
  Tensor<float> floats(shape);
  llvm::transform(std::get<Tensor<Bounded>>(exact).elements, floats.elements.begin(),
                  [](Bounded x) { return float(x.get()); });
  return floats;
}

/// Its place among all numbers of its type, which zero halves.
int64_t placeOf(uint16_t bits) { return bits & 0x8000 ? -int64_t(bits & 0x7fff) : int64_t(bits); }

uint16_t bitsOf(float value, Narrow type) {
  return type == Narrow::BF16 ? runtime::toBf16(value) : runtime::toHalf(value);
}

void count(const Operand &result, const Tensor<float> &expected, Narrow type, NarrowCount &counted) {
  int64_t next = 0;
  result.forEach([&](const char *cell) {
    uint16_t is;
    std::memcpy(&is, cell, sizeof(is));
    int64_t ulps = countUlps(is, bitsOf(expected.elements[next++], type), type);
    counted.differing += ulps > 0;
    counted.apart += ulps > 1;
    counted.farthest = std::max(counted.farthest, ulps);
  });
  counted.elements += next;
}

NarrowCount NarrowCounts::*findWhose(func::FuncOp kernel) {
  if (exec::findKernelKind(kernel) != exec::KernelKind::library)
    return &NarrowCounts::generated;
  bool isBackward = !kernel.getOps<graph::AttentionBackwardOp>().empty();
  return isBackward ? &NarrowCounts::attentionGradients : &NarrowCounts::products;
}

} // namespace

int64_t verify::countUlps(uint16_t a, uint16_t b, Narrow type) {
  int64_t infinity = type == Narrow::BF16 ? 0x7f80 : 0x7c00, firstNormal = type == Narrow::BF16 ? 0x80 : 0;
  int64_t placeA = placeOf(a), placeB = placeOf(b);
  bool areNumbers = std::abs(placeA) <= infinity && std::abs(placeB) <= infinity;
  if (!areNumbers)
    return std::abs(placeA) > infinity && std::abs(placeB) > infinity ? 0 : 2 * infinity;
  if (std::abs(placeA) <= firstNormal && std::abs(placeB) <= firstNormal)
    return 0;
  return std::abs(placeA - placeB);
}

LogicalResult verify::countNarrow(func::FuncOp kernel, ArrayRef<Operand> operands, ArrayRef<Operand> results,
                                  ArrayRef<bool> isAddedTo, NarrowCounts &counts) {
  auto isCounted = [&](size_t i) { return interpret::findNarrow(results[i].element) && !isAddedTo[i]; };
  if (!llvm::any_of(llvm::seq<size_t>(0, results.size()), isCounted) ||
      !kernel.getOps<graph::StochasticCastOp>().empty())
    return success();
  SmallVector<Datum<float>> arguments, expected;
  for (auto [operand, type] : llvm::zip(operands, kernel.getArgumentTypes()))
    arguments.push_back(readFloats(operand, type));
  if (failed(interpret::evaluate<float>(kernel, std::move(arguments), interpret::Options{}, expected)))
    return failure();
  NarrowCount &counted = counts.*findWhose(kernel);
  for (size_t i = 0; i < results.size(); ++i)
    if (isCounted(i))
      count(results[i], std::get<Tensor<float>>(expected[i]), *interpret::findNarrow(results[i].element), counted);
  return success();
}
