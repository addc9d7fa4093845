// See Products.h. A block of y is R rows by C columns of sums; the panel of a and that of b that it needs are packed as
// [k][R] and [k][C].
#include "Products.h"
#include <atomic>
#include <thread>

using namespace xlc::interpret;

namespace {

/// Blocks of doubles: as many columns as vectors are long, so that compilers make vectors of them.
template <class E> struct Tile {
  static constexpr int64_t rows = 4, columns = 16;
};
template <> struct Tile<Field> {
  static constexpr int64_t rows = 2, columns = 2;
};

/// The sums of a block; `a` is [k][rows], `b` [k][columns].
#if defined(__x86_64__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void sumBlock(int64_t k, const double *a, const double *b, double *sums) {
  constexpr int64_t rows = Tile<double>::rows, columns = Tile<double>::columns;
  double block[rows][columns] = {};
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        block[i][j] += a[p * rows + i] * b[p * columns + j];
  std::copy_n(&block[0][0], rows * columns, sums);
}

void sumBlock(int64_t k, const float *a, const float *b, float *sums) {
  constexpr int64_t rows = Tile<float>::rows, columns = Tile<float>::columns;
  std::fill_n(sums, rows * columns, 0.0f);
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] += a[p * rows + i] * b[p * columns + j];
}

/// Elements below 2^61: 32 products fit 128 bits with room.
void sumBlock(int64_t k, const Field *a, const Field *b, Field *sums) {
  using Wide = unsigned __int128;
  Wide block[4] = {};
  auto times = [](Field x, Field y) { return Wide(x.representative()) * y.representative(); };
  for (int64_t begin = 0; begin < k; begin += 32) {
    for (int64_t p = begin, end = std::min(k, begin + 32); p < end; ++p) {
      block[0] += times(a[2 * p], b[2 * p]), block[1] += times(a[2 * p], b[2 * p + 1]);
      block[2] += times(a[2 * p + 1], b[2 * p]), block[3] += times(a[2 * p + 1], b[2 * p + 1]);
    }
    for (Wide &sum : block) // 2^61 = 1
      sum = (sum & Field::kPrime) + (sum >> 61);
  }
  for (int i = 0; i < 4; ++i)
    sums[i] = Field::ofUnsigned(uint64_t(block[i] % Field::kPrime));
}

/// Whether sumBlock may be used: elements outside the field are not numbers.
bool isPlain(const Field *elements, size_t count) {
  return std::all_of(elements, elements + count, [](Field x) { return x.isElement(); });
}
template <class E> bool isPlain(const E *, size_t) { return true; }

template <class E> void sumBlockSlowly(int64_t k, const E *a, const E *b, E *sums) {
  constexpr int64_t rows = Tile<E>::rows, columns = Tile<E>::columns;
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

/// Calls work(i) for i in [0, count), on all cores where `isLarge`.
template <class Work> void forEachInParallel(int64_t count, bool isLarge, Work work) {
  int64_t threads = isLarge ? std::min<int64_t>(std::max(1u, std::thread::hardware_concurrency()), count) : 1;
  std::atomic<int64_t> next{0};
  auto serve = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i)
    others.emplace_back(serve);
  serve();
  for (std::thread &other : others)
    other.join();
}

/// One matrix. Columns of y are taken in strips, whose panels of b are packed once and stay in a cache.
template <class E> void multiplyOne(const Product &what, const E *a, const E *b, E *y) {
  constexpr int64_t rows = Tile<E>::rows, columns = Tile<E>::columns;
  int64_t m = what.y.rows.size(), n = what.y.columns.size(), k = what.a.columns.size();
  int64_t rowBlocks = (m + rows - 1) / rows, columnBlocks = (n + columns - 1) / columns;
  std::vector<E> packed(rowBlocks * rows * k);
  for (int64_t i = 0; i < rowBlocks; ++i)
    pack(a, what.a.rows, what.a.columns, i * rows, rows, &packed[i * rows * k]);
  bool arePlain = isPlain(packed.data(), packed.size());
  forEachInParallel(columnBlocks, double(m) * n * k > 1e6, [&](int64_t column) {
    std::vector<E> panel(k * columns), sums(rows * columns);
    pack(b, what.b.columns, what.b.rows, column * columns, columns, panel.data());
    bool isSimple = arePlain && isPlain(panel.data(), panel.size());
    for (int64_t row = 0; row < rowBlocks; ++row) {
      isSimple ? sumBlock(k, &packed[row * rows * k], panel.data(), sums.data())
               : sumBlockSlowly(k, &packed[row * rows * k], panel.data(), sums.data());
      for (int64_t i = 0; i < std::min(rows, m - row * rows); ++i)
        for (int64_t j = 0; j < std::min(columns, n - column * columns); ++j)
          y[what.y.rows[row * rows + i] + what.y.columns[column * columns + j]] = sums[i * columns + j];
    }
  });
}

/// A plane of bounded numbers.
template <class F> std::vector<double> planeOf(const Bounded *elements, size_t count, F f) {
  std::vector<double> plane(count);
  for (size_t i = 0; i < count; ++i)
    plane[i] = f(elements[i]);
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
    for (int64_t row : product.y.rows)
      for (int64_t column : product.y.columns) {
        int64_t i = offsets[2] + row + column;
        double error = areExact ? 0 : reaches[i] - magnitudes[i] + 1e-15 * reaches[i];
        y[i] = Bounded::sumOfProducts(values[i], magnitudes[i], error, terms);
      }
}

} // namespace xlc::interpret
