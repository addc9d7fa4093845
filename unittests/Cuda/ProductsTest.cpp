// Products by cuBLASLt's descriptors against three nested loops, over random shapes: every order of strides, gaps, batches in
// any place of the memory, operands that are repeated over a batch. Elements that are not part of a matrix are NaN where they
// are read, and stay what they are where they are written.
#include "Cuda/Products.h"
#include "../Runtime/Elements.h"
#include "Failure.h"
#include "Said.h"
#include "SimulatedCublasLt.h"
#include "StandInDevice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace xlc::runtime;
using namespace xlc::test;

namespace {

constexpr uint64_t budget = 1 << 16;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// The same numbers in every run.
std::mt19937 &draws() {
  static std::mt19937 all(1);
  return all;
}
int64_t draw(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(draws()); }

/// Types of operands and result.
constexpr std::pair<FloatType, FloatType> types[] = {{FloatType::F32, FloatType::F32},
                                                     {FloatType::BF16, FloatType::F32},
                                                     {FloatType::BF16, FloatType::BF16},
                                                     {FloatType::F16, FloatType::F32},
                                                     {FloatType::F16, FloatType::F16}};

/// A dimension of an operand, and where its stride is to be put.
struct Dim {
  int64_t size;
  int64_t *stride;
};

/// Gives all dimensions strides: one of the first two is the fastest, the others follow in any order with gaps between them.
/// Strides of dimensions of size 1 mean nothing, and are anything. Returns the number of elements.
int64_t layOut(std::vector<Dim> dims, bool isColumnMajor) {
  std::swap(dims[0], dims[isColumnMajor ? 0 : 1]);
  std::shuffle(dims.begin() + 1, dims.end(), draws());
  int64_t step = 1;
  for (Dim &dim : dims) {
    *dim.stride = dim.size == 1 ? draw(0, 9) : step;
    step *= dim.size;
    step += draw(0, 2) * draw(0, 5);
  }
  return step;
}

struct Problem {
  ContractShape shape;
  int64_t aSize, bSize, ySize;
};

Problem drawProblem(FloatType operands, FloatType result, bool isBiased) {
  auto size = [] { return draw(0, 3) == 0 ? 1 : draw(1, 24); };
  Problem p{{size(), size(), size(), 0, 0, 0, 0, 0, 0, {}, {.bias = isBiased}, operands, result}, 0, 0, 0};
  ContractShape &s = p.shape;
  s.batch.resize(draw(0, 3));
  std::vector<Dim> a = {{s.m, &s.aM}, {s.k, &s.aK}}, b = {{s.k, &s.bK}, {s.n, &s.bN}}, y = {{s.m, &s.yM}, {s.n, &s.yN}};
  for (ContractShape::Batch &dim : s.batch) {
    dim = {draw(1, 4), 0, 0, 0};
    if (draw(0, 3))
      a.push_back({dim.size, &dim.a});
    if (draw(0, 3))
      b.push_back({dim.size, &dim.b});
    y.push_back({dim.size, &dim.y});
  }
  p.aSize = layOut(a, draw(0, 1)), p.bSize = layOut(b, draw(0, 1)), p.ySize = layOut(y, !isBiased && draw(0, 1));
  if (isBiased)
    s.yN = 1; // even where n is 1, it says that rows are rows
  return p;
}

/// Calls `with` for each of a batch, with what it adds to the places of a, b and y.
template <class With> void forBatch(const ContractShape &s, With with, size_t dim = 0, ContractShape::Batch at = {}) {
  if (dim == s.batch.size())
    return with(at);
  for (int64_t i = 0; i < s.batch[dim].size; ++i)
    forBatch(s, with, dim + 1, {1, at.a + i * s.batch[dim].a, at.b + i * s.batch[dim].b, at.y + i * s.batch[dim].y});
}

/// Elements that lie as far behind a multiple of 256 as is drawn.
class Placed {
public:
  Placed(FloatType type, const std::vector<float> &values) : elements(type, pad(type, values)), type(type) {}
  void *data() { return (char *)elements.data() + skipped * bytesOf(type); }
  float operator[](int64_t i) const { return elements[i + skipped]; }
  uint32_t alignment() { return alignmentOf((uint64_t)data()); }

private:
  std::vector<float> pad(FloatType, const std::vector<float> &values) {
    skipped = draw(0, 1) * draw(0, 16);
    std::vector<float> padded(skipped, nan);
    padded.insert(padded.end(), values.begin(), values.end());
    return padded;
  }
  int64_t skipped = 0;
  Elements elements;
  FloatType type;
};

std::vector<float> drawFloats(int64_t count) {
  std::vector<float> values(count);
  for (float &value : values)
    value = std::uniform_real_distribution<float>(-1, 1)(draws());
  return values;
}

struct Workspace {
  std::vector<char> bytes = std::vector<char>(budget + 256);
  void *data() { return bytes.data() + (256 - (uint64_t)bytes.data() % 256); }
};

/// What memory y is to hold, in double; NaN: as it was.
std::vector<double> expect(const Problem &p, bool adds, const Placed &a, const Placed &b, const Placed &bias,
                           const std::vector<float> &before) {
  const ContractShape &s = p.shape;
  std::vector<double> expected(p.ySize, nan);
  forBatch(s, [&](const ContractShape::Batch &at) {
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        int64_t place = at.y + (s.m > 1 ? i * s.yM : 0) + (s.n > 1 ? j * s.yN : 0);
        double sum = (adds ? before[place] : 0) + (s.epilogue.bias ? bias[j] : 0);
        for (int64_t k = 0; k < s.k; ++k)
          sum += (double)a[at.a + i * s.aM + k * s.aK] * b[at.b + k * s.bK + j * s.bN];
        expected[place] = sum;
      }
  });
  return expected;
}

/// All that the batch reads of an operand, [rows, columns]; the rest is NaN.
std::vector<float> drawOperand(const Problem &p, int64_t size, std::array<Dim, 2> dims,
                               int64_t ContractShape::Batch::*step) {
  std::vector<float> values(size, nan), drawn = drawFloats(size);
  forBatch(p.shape, [&](const ContractShape::Batch &at) {
    for (int64_t i = 0; i < dims[0].size; ++i)
      for (int64_t j = 0; j < dims[1].size; ++j) {
        int64_t place = at.*step + i * *dims[0].stride + j * *dims[1].stride;
        values[place] = drawn[place];
      }
  });
  return values;
}

void check(Problem &p, bool adds, const Products &products) {
  ContractShape &s = p.shape;
  Placed a(s.operands, drawOperand(p, p.aSize, {{{s.m, &s.aM}, {s.k, &s.aK}}}, &ContractShape::Batch::a));
  Placed b(s.operands, drawOperand(p, p.bSize, {{{s.k, &s.bK}, {s.n, &s.bN}}}, &ContractShape::Batch::b));
  Placed bias(FloatType::F32, drawFloats(s.n)), yDrawn(s.result, drawFloats(p.ySize));
  std::vector<float> before(p.ySize);
  for (int64_t i = 0; i < p.ySize; ++i)
    before[i] = yDrawn[i];
  std::vector<double> expected = expect(p, adds, a, b, bias, before);
  if (!adds) // what is written over is not read
    for (int64_t i = 0; i < p.ySize; ++i)
      before[i] = std::isnan(expected[i]) ? before[i] : nan;
  Placed y(s.result, before);
  Workspace workspace;
  Product product =
      products.prepare("it", s, budget, {a.alignment(), b.alignment(), bias.alignment(), 1, y.alignment()});
  ASSERT_LE(product.workspace(), budget);
  product.run({a.data(), b.data(), s.epilogue.bias ? bias.data() : nullptr, nullptr, y.data()}, adds, workspace.data(),
              (void *)7);
  for (void *stream : standInDevice().streams)
    ASSERT_EQ(stream, (void *)7);
  standInDevice().finish();
  for (int64_t i = 0; i < p.ySize; ++i)
    if (std::isnan(expected[i]))
      ASSERT_EQ(y[i], before[i]) << "element " << i << " is not part of the result";
    else
      ASSERT_LT(errorBeyondRounding(s.result, expected[i], y[i]), 4e-6) << "element " << i; // up to 24 terms below 1
}

TEST(Products, EqualTheNaiveProductForRandomShapes) {
  standInDevice().reset();
  Products products(simulatedCublasLt());
  for (int i = 0; i < 4000; ++i) {
    auto [operands, result] = types[i % 5];
    bool isBiased = operands == FloatType::F32 && draw(0, 1);
    Problem p = drawProblem(operands, result, isBiased);
    const ContractShape &s = p.shape;
    check(p, result == FloatType::F32 && draw(0, 1), products);
    ASSERT_FALSE(HasFatalFailure()) << "shape " << i << ": " << s.m << " x " << s.n << " x " << s.k << ", a " << s.aM
                                    << " " << s.aK << ", b " << s.bK << " " << s.bN << ", y " << s.yM << " " << s.yN
                                    << ", batch of " << s.batch.size() << (isBiased ? ", bias" : "");
  }
}

} // namespace
