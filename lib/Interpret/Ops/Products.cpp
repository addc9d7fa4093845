// See Products.h. A block of y is R rows by C columns of sums; the panel of a and that of b that it needs are packed as
// [k][R] and [k][C].
//
// In the field a number of 61 bits is three digits of 21, from -2^20 to 2^20. Digits are multiplied and summed in
// double precision, which is exact for so few bits and three times as fast as integers of 128 bits.
#include "Products.h"
#include "xlc/Interpret/Parallel.h"

using namespace xlc::interpret;

namespace {

/// Blocks of doubles: as many as registers hold, of columns a multiple of a vector's length.
constexpr int64_t rows = 6, columns = 8;

/// The sums of a block; `a` is [k][rows], `b` [k][columns].
#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void sumBlock(int64_t k, const double *a, const double *b, double *sums) {
  double block[rows][columns] = {};
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        block[i][j] += a[p * rows + i] * b[p * columns + j];
  std::copy_n(&block[0][0], rows * columns, sums);
}

void sumBlock(int64_t k, const float *a, const float *b, float *sums) {
  std::fill_n(sums, rows * columns, 0.0f);
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] += a[p * rows + i] * b[p * columns + j];
}

/// Three digits a0, a1, a2 and their sums in pairs: six products give those of all digits (Karatsuba and Ofman, 1962).
/// Each is a sum of at most 1024 products of 42 bits, so that doubles hold it and the differences of three.
constexpr int64_t planes = 6, digitBits = 21, termsOfDigits = 1024;

/// Splits `count` elements into planes of as many digits each.
#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void splitDigits(const Field *elements, int64_t count, double *to) {
  constexpr int64_t half = 1 << (digitBits - 1), mask = 2 * half - 1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = elements[i].representative(), low = ((rest + half) & mask) - half;
    rest = (rest - low) >> digitBits;
    int64_t middle = ((rest + half) & mask) - half, high = (rest - middle) >> digitBits;
    to[i] = low, to[count + i] = middle, to[2 * count + i] = high;
    to[3 * count + i] = low + middle, to[4 * count + i] = low + high, to[5 * count + i] = middle + high;
  }
}

/// A panel of [k][width] as digits: [terms / 1024][planes][terms][width].
std::vector<double> digitsOf(const std::vector<Field> &panel, int64_t width) {
  std::vector<double> digits(panel.size() * planes);
  for (int64_t begin = 0, size = panel.size(), most = termsOfDigits * width; begin < size; begin += most)
    splitDigits(&panel[begin], std::min(most, size - begin), &digits[begin * planes]);
  return digits;
}

/// The number whose digits have these products; 2^61 = 1.
Field joinDigits(const double (&sums)[planes][rows * columns], int64_t i) {
  auto sum = [&](int plane) { return int64_t(sums[plane][i]); };
  using Wide = __int128;
  Wide d0 = sum(0), d1 = sum(1), d2 = sum(2), d01 = sum(3) - d0 - d1, d02 = sum(4) - d0 - d2 + d1,
       d12 = sum(5) - d1 - d2;
  Wide number = d0 + (d01 << 21) + (d02 << 42) + (d12 << 2) + (d2 << 23) + (Wide(Field::kPrime) << 60);
  return Field::ofUnsigned(uint64_t(number & Field::kPrime) + uint64_t(number >> 61));
}

/// The sums of a block of digits.
void sumBlock(int64_t k, const double *a, const double *b, Field *sums) {
  std::fill_n(sums, rows * columns, Field());
  for (int64_t begin = 0; begin < k; begin += termsOfDigits) {
    int64_t terms = std::min(termsOfDigits, k - begin);
    double block[planes][rows * columns];
    for (int64_t plane = 0; plane < planes; ++plane)
      sumBlock(terms, a + (begin * planes + plane * terms) * rows, b + (begin * planes + plane * terms) * columns,
               block[plane]);
    for (int64_t i = 0; i < rows * columns; ++i)
      sums[i] += joinDigits(block, i);
  }
}

/// The same where some elements are outside the field: these are not numbers.
template <class E> void sumBlockSlowly(int64_t k, const E *a, const E *b, E *sums) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      ProductSum<E> sum;
      for (int64_t p = 0; p < k; ++p)
        sum.add(a[p * rows + i], b[p * columns + j]);
      sums[i * columns + j] = sum.get();
    }
}

/// Packs `width` neighbours, from `first` on, of each term of the sum; what is past the last is zero.
template <class E>
void pack(const E *from, const std::vector<int64_t> &neighbours, const std::vector<int64_t> &terms, int64_t first,
          int64_t width, E *to) {
  int64_t present = std::min<int64_t>(width, neighbours.size() - first);
  for (int64_t term : terms) {
    for (int64_t i = 0; i < present; ++i)
      to[i] = from[neighbours[first + i] + term];
    std::fill(to + present, to + width, E());
    to += width;
  }
}

/// A panel of a or b: its elements and, in the field, what sumBlock takes of them.
template <class E> struct Panel {
  std::vector<E> elements;
  bool areNumbers = true;

  void prepare(int64_t) {}
  const E *data() const { return elements.data(); }
};
template <> struct Panel<Field> {
  std::vector<Field> elements;
  bool areNumbers = true;
  std::vector<double> digits;

  void prepare(int64_t width) {
    areNumbers = std::all_of(elements.begin(), elements.end(), [](Field x) { return x.isElement(); });
    if (areNumbers)
      digits = digitsOf(elements, width);
  }
  const double *data() const { return digits.data(); }
};

template <class E>
Panel<E> panelOf(const E *from, const std::vector<int64_t> &neighbours, const std::vector<int64_t> &terms,
                 int64_t first, int64_t width) {
  Panel<E> panel;
  panel.elements.resize(terms.size() * width);
  pack(from, neighbours, terms, first, width, panel.elements.data());
  panel.prepare(width);
  return panel;
}

/// One matrix. Columns of y are taken in strips, whose panels of b are packed once and stay in a cache.
template <class E> void multiplyOne(const Product &what, const E *a, const E *b, E *y) {
  int64_t m = what.y.rows.size(), n = what.y.columns.size(), k = what.a.columns.size();
  int64_t rowBlocks = (m + rows - 1) / rows, columnBlocks = (n + columns - 1) / columns;
  bool isLarge = double(m) * n * k > 1e6;
  std::vector<Panel<E>> strips(rowBlocks);
  forEachInParallel(rowBlocks, isLarge,
                    [&](int64_t i) { strips[i] = panelOf(a, what.a.rows, what.a.columns, i * rows, rows); });
  forEachInParallel(columnBlocks, isLarge, [&](int64_t column) {
    Panel<E> panel = panelOf(b, what.b.columns, what.b.rows, column * columns, columns);
    E sums[rows * columns];
    for (int64_t row = 0; row < rowBlocks; ++row) {
      const Panel<E> &strip = strips[row];
      if (strip.areNumbers && panel.areNumbers)
        sumBlock(k, strip.data(), panel.data(), sums);
      else
        sumBlockSlowly(k, strip.elements.data(), panel.elements.data(), sums);
      for (int64_t i = 0; i < std::min(rows, m - row * rows); ++i)
        for (int64_t j = 0; j < std::min(columns, n - column * columns); ++j)
          y[what.y.rows[row * rows + i] + what.y.columns[column * columns + j]] = sums[i * columns + j];
    }
  });
}

/// A plane of bounded numbers.
template <class F> std::vector<double> planeOf(const Bounded *elements, size_t count, F f) {
  std::vector<double> plane(count);
  forEachPiece(count, [&](int64_t first, int64_t size) {
    for (int64_t i = first; i < first + size; ++i)
      plane[i] = f(elements[i]);
  });
  return plane;
}

/// How many elements a matrix reaches over.
size_t extentOf(const Product &product, const MatrixPlaces &places, int which) {
  int64_t last = 0;
  for (const auto &offsets : product.batch)
    last = std::max(last, offsets[which]);
  return last + *std::max_element(places.rows.begin(), places.rows.end()) +
         *std::max_element(places.columns.begin(), places.columns.end()) + 1;
}

} // namespace

namespace xlc::interpret {

template <class E> void multiply(const Product &product, const E *a, const E *b, E *y) {
  for (const auto &[offsetA, offsetB, offsetY] : product.batch)
    multiplyOne(product, a + offsetA, b + offsetB, y + offsetY);
}
template void multiply(const Product &, const double *, const double *, double *);
template void multiply(const Product &, const float *, const float *, float *);
template void multiply(const Product &, const Field *, const Field *, Field *);

/// Values, magnitudes and, where there are any, errors are products of their own:
/// |ab - a'b'| <= (|a| + ea) (|b| + eb) - |a| |b|.
template <> void multiply(const Product &product, const Bounded *a, const Bounded *b, Bounded *y) {
  size_t sizeA = extentOf(product, product.a, 0), sizeB = extentOf(product, product.b, 1),
         sizeY = extentOf(product, product.y, 2);
  auto plane = [&](auto f) {
    std::vector<double> sums(sizeY);
    multiply(product, planeOf(a, sizeA, f).data(), planeOf(b, sizeB, f).data(), sums.data());
    return sums;
  };
  auto isExact = [](Bounded x) { return x.error() == 0; };
  bool areExact = std::all_of(a, a + sizeA, isExact) && std::all_of(b, b + sizeB, isExact);
  std::vector<double> values = plane([](Bounded x) { return x.get(); });
  std::vector<double> magnitudes = plane([](Bounded x) { return std::abs(x.get()); });
  std::vector<double> reaches;
  if (!areExact)
    reaches = plane([](Bounded x) { return std::abs(x.get()) + x.error(); });
  double terms = product.a.columns.size();
  for (const auto &offsets : product.batch)
    forEachInParallel(product.y.rows.size(), sizeY > 1e6, [&](int64_t row) {
      for (int64_t column : product.y.columns) {
        int64_t i = offsets[2] + product.y.rows[row] + column;
        double error = areExact ? 0 : reaches[i] - magnitudes[i] + 1e-15 * reaches[i];
        y[i] = Bounded::sumOfProducts(values[i], magnitudes[i], error, terms);
      }
    });
}

} // namespace xlc::interpret
