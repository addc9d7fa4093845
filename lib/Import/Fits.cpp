// See Fits.h. The line passes through the smallest and the largest x.
#include "Fits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace xlc::onnx;

static constexpr size_t fewest = 8; ///< elements whose order is not taken for chance

bool xlc::onnx::isAffine(ArrayRef<double> x, ArrayRef<double> y) {
  auto [low, high] = std::minmax_element(x.begin(), x.end());
  if (!std::isfinite(*low) || !std::isfinite(*high) || *low == *high || x.size() < kFewestOnLine)
    return false;
  double first = y[low - x.begin()], slope = (y[high - x.begin()] - first) / (*high - *low), size = 0;
  for (double value : y)
    size = std::max(size, std::abs(value));
  if (slope == 0 || !std::isfinite(slope))
    return false;
  SmallVector<double> different(x);
  llvm::sort(different);
  if (std::unique(different.begin(), different.end()) - different.begin() < (ptrdiff_t)kFewestOnLine)
    return false;
  return llvm::all_of(llvm::zip(x, y), [&](auto pair) {
    return std::abs(first + slope * (std::get<0>(pair) - *low) - std::get<1>(pair)) <= kFitTolerance * size;
  });
}

bool xlc::onnx::isAffine(ArrayRef<float> x, ArrayRef<float> y) {
  SmallVector<double> from(x), to(y);
  return isAffine(ArrayRef<double>(from), ArrayRef<double>(to));
}

bool xlc::onnx::isMonotone(ArrayRef<float> x, ArrayRef<float> y) {
  std::vector<unsigned> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::tie(x[a], a) < std::tie(x[b], b); });
  bool grows = true, falls = true;
  size_t steps = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    float a = y[order[i - 1]], b = y[order[i]];
    bool isSame = x[order[i - 1]] == x[order[i]];
    steps += !isSame && a != b;
    grows &= isSame ? a == b : a <= b;
    falls &= isSame ? a == b : a >= b;
  }
  return (grows || falls) && steps + 1 >= fewest && steps * 2 >= x.size() && !llvm::is_sorted(x) &&
         !llvm::is_sorted(x, std::greater<float>());
}
