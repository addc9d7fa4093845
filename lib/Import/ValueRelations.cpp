// An exporter that folds `1 - m`, `exp(-s)`, `w / w.norm()` or `0.01 * (w * w).sum()` leaves a constant without a
// record of its parameter or its computation. The values still show it. Random numbers have the same order by chance
// once in n! cases, and never lie on a line (Fits.h):
//
//     m  0.31 -0.20  0.77 ...        elements: the constant grows or falls wherever the parameter grows, or is affine
//     c  0.69  1.20  0.23 ...        in a function of it (a square, a cosine)
//                                    rows or columns: each is affine in that of the parameter (norms, standardisation)
//
// A constant of one repeated number is compared with a few functions of that number.
#include "ValueRelations.h"
#include "Fits.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr double exactness = 3e-6; ///< of a number that has to be met without a fit

using Function = double (*)(double);
/// What models make of single elements.
constexpr Function functions[] = {
    [](double x) { return x; },
    [](double x) { return x * x; },
    [](double x) { return std::abs(x); },
    [](double x) { return 1 / x; },
    [](double x) { return 1 / (x * x); },
    [](double x) { return std::sqrt(x); },
    [](double x) { return 1 / std::sqrt(x); },
    [](double x) { return std::exp(x); },
    [](double x) { return std::exp(-x); },
    [](double x) { return std::exp(2 * x); },
    [](double x) { return std::exp(-2 * x); },
    [](double x) { return std::log(x); },
    [](double x) { return std::log1p(std::exp(x)); },
    [](double x) { return 1 / (1 + std::exp(-x)); },
    [](double x) { return std::tanh(x); },
    [](double x) { return std::sin(x); },
    [](double x) { return std::cos(x); },
    [](double x) { return std::max(x, 0.0); },
};

/// Sums over many elements, as norms and penalties have them.
enum class Sum { Plain, Squares, Absolute };
constexpr Sum sums[] = {Sum::Plain, Sum::Squares, Sum::Absolute};

double termOf(Sum kind, double x) { return kind == Sum::Plain ? x : kind == Sum::Squares ? x * x : std::abs(x); }

bool isNear(double a, double b, double relative) {
  return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

/// Whether a simple function of the one number gives the other. Numbers of few digits meet by chance.
bool isFunctionOf(double number, double of) {
  auto isOf = [&](double y) { return isNear(number, y, exactness); };
  if (isPlain(number, 3))
    return isOf(-of) || isOf(1 - of) || isOf(1 + of) || isOf(1 / of);
  return llvm::any_of(functions, [&](Function f) {
    double y = f(of);
    return std::isfinite(y) && (isOf(-y) || isOf(1 - y) || isOf(1 + y) || isOf(y - 1) || isOf(y));
  });
}

bool isElementwise(ArrayRef<float> y, ArrayRef<float> x) {
  if (isMonotone(x, y))
    return true;
  SmallVector<double> to(y);
  return llvm::any_of(functions, [&](Function f) {
    SmallVector<double> from;
    for (float value : x)
      from.push_back(f(value));
    return isAffine(ArrayRef<double>(from), ArrayRef<double>(to));
  });
}

std::vector<float> transpose(ArrayRef<float> values, int64_t rows, int64_t columns) {
  std::vector<float> turned;
  turned.reserve(values.size());
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      turned.push_back(values[r * columns + c]);
  return turned;
}

/// Whether each of `rows` rows is affine in that of the parameter.
bool isRowwise(ArrayRef<float> y, ArrayRef<float> x, int64_t rows) {
  size_t columns = x.size() / rows;
  for (int64_t r = 0; r < rows; ++r)
    if (!isAffine(x.slice(r * columns, columns), y.slice(r * columns, columns)))
      return false;
  return rows > 0;
}

/// Of equally many elements in the same order.
bool isFunction(ArrayRef<float> y, ArrayRef<float> x, int64_t rows, int64_t columns) {
  if (isElementwise(y, x) || isRowwise(y, x, rows))
    return true;
  return rows > 1 && columns > 1 && isRowwise(transpose(y, rows, columns), transpose(x, rows, columns), columns);
}

/// Whether `y` has one number for each of the rows of `x`, which is a sum over it or a root of one, up to a common
/// factor.
bool isSumOfRows(ArrayRef<float> y, ArrayRef<float> x) {
  size_t rows = y.size(), columns = x.size() / rows;
  return columns > 1 && llvm::any_of(sums, [&](Sum kind) {
           SmallVector<double> from(rows), roots(rows);
           for (size_t r = 0; r < rows; ++r) {
             for (float value : x.slice(r * columns, columns))
               from[r] += termOf(kind, value);
             roots[r] = kind == Sum::Squares ? std::sqrt(from[r]) : 0;
           }
           SmallVector<double> to(y);
           return isAffine(ArrayRef<double>(from), ArrayRef<double>(to)) ||
                  isAffine(ArrayRef<double>(roots), ArrayRef<double>(to));
         });
}

/// Whether `y` stands in `x`, whose rows of `columns` elements it has some of.
bool isPiece(ArrayRef<float> y, ArrayRef<float> x, int64_t columns) {
  for (size_t at = 0; at + y.size() <= x.size(); at += columns)
    if (x.slice(at, y.size()) == y)
      return true;
  return false;
}

bool isProgression(ArrayRef<float> values) {
  if (values.size() < kFewestOnLine)
    return false;
  double last = values.back(), first = values.front(), count = (double)values.size() - 1;
  bool isArithmetic = true, isGeometric = first * last > 0;
  double size = std::max(std::abs(first), std::abs(last));
  for (auto [i, value] : llvm::enumerate(values)) {
    isArithmetic &= std::abs(first + (last - first) * (double)i / count - value) <= kFitTolerance * size;
    isGeometric = isGeometric && isNear(first * std::pow(last / first, (double)i / count), value, kFitTolerance);
  }
  return isArithmetic || isGeometric;
}

} // namespace

ValuedTensor::ValuedTensor(ArrayRef<int64_t> shape, std::vector<float> values) : values(std::move(values)) {
  llvm::copy_if(shape, std::back_inserter(this->shape), [](int64_t size) { return size != 1; });
}

bool ValuedTensor::isUniform() const {
  return llvm::all_of(values, [&](float value) { return value == values.front(); });
}

bool xlc::onnx::isPlain(double x, int digits) {
  if (x == 0 || !std::isfinite(x))
    return true;
  double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(x))));
  return isNear(std::round(x * scale), x * scale, exactness / 10);
}

bool xlc::onnx::isComputedFrom(const ValuedTensor &constant, const ValuedTensor &parameter) {
  ArrayRef<float> y = constant.values, x = parameter.values;
  if (x.empty() || y.empty())
    return false;
  if (parameter.isUniform() || constant.isUniform())
    return parameter.isUniform() && constant.isUniform() && constant.shape == parameter.shape &&
           isFunctionOf(y[0], x[0]);
  bool isMatrix = parameter.shape.size() == 2;
  int64_t rows = parameter.shape.front(), columns = (int64_t)x.size() / rows;
  if (constant.shape == parameter.shape)
    return isFunction(y, x, rows, columns);
  std::vector<float> turned = isMatrix ? transpose(x, rows, columns) : std::vector<float>();
  if (isMatrix && constant.shape.size() == 2 && constant.shape[0] == columns && constant.shape[1] == rows)
    return isFunction(y, turned, columns, rows);
  if (constant.shape.size() == parameter.shape.size()) {
    bool isOfRows = ArrayRef(constant.shape).drop_front() == ArrayRef(parameter.shape).drop_front();
    return (isOfRows && isPiece(y, x, columns)) ||
           (isMatrix && constant.shape[0] == rows && isPiece(transpose(y, rows, constant.shape[1]), turned, rows));
  }
  if (constant.shape.size() != 1 || parameter.shape.size() < 2)
    return false;
  return (constant.shape[0] == rows && isSumOfRows(y, x)) ||
         (isMatrix && constant.shape[0] == columns && isSumOfRows(y, turned));
}

bool xlc::onnx::isSumOver(float number, ArrayRef<ValuedTensor> parameters) {
  size_t count = 0;
  for (const ValuedTensor &parameter : parameters)
    count += parameter.values.size();
  return number != 0 && count > 1 && llvm::any_of(sums, [&](Sum kind) {
           double sum = 0;
           for (const ValuedTensor &parameter : parameters)
             for (float value : parameter.values)
               sum += termOf(kind, value);
           double mean = sum / (double)count;
           return llvm::any_of(ArrayRef<double>{sum, mean, std::sqrt(sum), std::sqrt(mean)},
                               [&](double of) { return std::isfinite(of) && of != 0 && isPlain(number / of, 1); });
         });
}

bool xlc::onnx::isSinusoidTable(const ValuedTensor &tensor) {
  if (tensor.values.empty() || tensor.isUniform() || tensor.shape.size() > 2 ||
      tensor.shape[0] < (int64_t)kFewestOnLine)
    return false;
  if (llvm::none_of(tensor.values, [](float value) { return std::abs(value) > 0.5; })) // small numbers look alike
    return false;
  int64_t rows = tensor.shape[0], columns = (int64_t)tensor.values.size() / rows;
  for (int64_t c = 0; c < columns; ++c) {
    auto at = [&](int64_t r) { return (double)tensor.values[r * columns + c]; };
    // x[r - 1] + x[r + 1] = 2 cos(w) x[r], with w from the row that tells it best.
    int64_t best = 1;
    for (int64_t r = 1; r + 1 < rows; ++r)
      best = std::abs(at(r)) > std::abs(at(best)) ? r : best;
    double factor = at(best) == 0 ? 2 : (at(best - 1) + at(best + 1)) / at(best);
    for (int64_t r = 1; r + 1 < rows; ++r)
      if (std::abs(at(r)) > 1 + kFitTolerance || std::abs(at(r - 1) + at(r + 1) - factor * at(r)) > 10 * kFitTolerance)
        return false;
  }
  return true;
}

bool xlc::onnx::isMask(const ValuedTensor &tensor) {
  ArrayRef<float> values = tensor.values;
  auto other = llvm::find_if(values, [&](float value) { return value != values.front(); });
  return other != values.end() && std::max(std::abs(values.front()), std::abs(*other)) > 1e4 &&
         llvm::all_of(values, [&](float value) { return value == values.front() || value == *other; });
}

bool xlc::onnx::countsUpwards(ArrayRef<float> values) {
  if (values.size() < 2 || values[1] <= values[0])
    return false;
  float step = values[1] - values[0];
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != std::round(values[i]) || (i > 0 && values[i] - values[i - 1] != step))
      return false;
  return true;
}

bool xlc::onnx::isRegular(const ValuedTensor &tensor) {
  ArrayRef<float> values = tensor.values;
  if (values.empty())
    return true;
  auto isFew = [](double x) {
    return isPlain(x, 3) || (std::abs(x) < 64 && isNear(std::round(x * 256), x * 256, exactness / 10));
  };
  auto isSimple = [&](double x) {
    return isFew(x) || std::abs(x) > 1e30 || isPlain(x * x, 3) || isPlain(1 / x, 3) || isPlain(1 / (x * x), 3) ||
           (std::abs(x) < 30 && isFew(std::exp(x)));
  };
  float first = values.front();
  auto other = llvm::find_if(values, [&](float value) { return value != first; });
  if (other == values.end())
    return isSimple(first);
  if (llvm::all_of(values, [&](float value) { return value == first || value == *other; }))
    return isMask(tensor) || (isSimple(first) && isSimple(*other));
  size_t columns = tensor.shape.back();
  bool hasProgressions = true;
  for (size_t at = 0; at < values.size() && hasProgressions; at += columns)
    hasProgressions = isProgression(values.slice(at, columns));
  return hasProgressions || isSinusoidTable(tensor);
}
