// Scatter into a base against a plain loop, cut in every way.
#include "Cpu/ScatterInto.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace xlc::runtime;

namespace {

constexpr ScatterKind kinds[] = {ScatterKind::Last, ScatterKind::Max, ScatterKind::Min};
using Element = ScatterIntoShape::Element;

/// Four blocks of [3 rows, 2 columns], and four updates of each, of which several name one place.
template <class T, class Index> void expectPlainLoop(Element element, bool perElement) {
  std::vector<Index> indices = {0, 2, 2, 2, 1, 0, 2, 0, /**/ 1, 1, 1, 0, 0, 0, 1, 2};
  std::vector<T> base, updates;
  for (int i = 0; i < 4 * 3 * 2; ++i)
    base.push_back((T)(i * 5 % 11 - 4));
  for (int i = 0; i < 4 * 4 * 2; ++i)
    updates.push_back((T)(i * 7 % 13 - 6));
  for (ScatterKind kind : kinds) {
    std::vector<T> expected = base;
    for (int o = 0; o < 4; ++o)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) {
          Index row = perElement ? indices[o % 2 * 8 + i * 2 + j] : indices[o % 2 * 4 + i];
          T &there = expected[(o * 3 + row) * 2 + j], update = updates[(o * 4 + i) * 2 + j];
          there = kind == ScatterKind::Last  ? update
                  : kind == ScatterKind::Max ? std::max(there, update)
                                             : std::min(there, update);
        }
    ScatterIntoShape shape{kind, 4, 2, 4, 3, 2, perElement, sizeof(Index) == 8, element};
    for (int64_t cut = 0; cut <= 12; ++cut) {
      std::vector<T> y(base.size(), (T)99);
      scatterInto(shape, base.data(), indices.data(), updates.data(), y.data(), 0, cut);
      scatterInto(shape, base.data(), indices.data(), updates.data(), y.data(), cut, 12);
      EXPECT_EQ(y, expected) << (int)kind << " cut at " << cut;
    }
  }
}

TEST(ScatterInto, IsThePlainLoopForEveryCut) {
  for (bool perElement : {false, true}) {
    expectPlainLoop<float, int64_t>(Element::F32, perElement);
    expectPlainLoop<float, int32_t>(Element::F32, perElement);
    expectPlainLoop<int32_t, int64_t>(Element::I32, perElement);
    expectPlainLoop<int64_t, int32_t>(Element::I64, perElement);
  }
}

TEST(ScatterInto, KeepsNaN) {
  const float none = __builtin_nanf("");
  std::vector<float> base = {none, 1, 2}, updates = {5, none};
  std::vector<int64_t> indices = {0, 1};
  for (ScatterKind kind : {ScatterKind::Max, ScatterKind::Min}) {
    std::vector<float> y(3);
    scatterInto({kind, 1, 1, 2, 3, 1, false, true}, base.data(), indices.data(), updates.data(), y.data(), 0, 3);
    EXPECT_TRUE(y[0] != y[0] && y[1] != y[1] && y[2] == 2);
  }
}

TEST(ScatterInto, RefusesForeignIndices) {
  std::vector<float> base(4), updates(4), y(4);
  for (int32_t foreign : {-1, 2})
    for (bool perElement : {false, true}) {
      std::vector<int32_t> indices = {0, 0, 1, foreign};
      ScatterIntoShape shape{ScatterKind::Last, 1, 1, perElement ? 2 : 4, 2, perElement ? 2 : 1, perElement, false};
      try {
        scatterInto(shape, base.data(), indices.data(), updates.data(), y.data(), 0, 2);
        FAIL();
      } catch (const std::out_of_range &problem) {
        EXPECT_EQ(problem.what(), "index " + std::to_string(foreign) + " is outside a dimension of 2");
      }
    }
}

} // namespace
