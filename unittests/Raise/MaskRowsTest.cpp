// Masks as intervals of keys, against the same masks element by element, for all small sizes.
#include "MaskRows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

struct MaskRowsTest : testing::Test {
  MLIRContext context;
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module;
  Location loc = builder.getUnknownLoc();
  int64_t queries = 1, keys = 1;

  MaskRowsTest() {
    context.loadDialect<graph::GraphDialect>();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// Positions along one dimension, repeated along the other.
  Value positions(const std::vector<int64_t> &values, bool alongKeys) {
    SmallVector<int64_t> shape = alongKeys ? SmallVector<int64_t>{keys} : SmallVector<int64_t>{queries, 1};
    auto type = RankedTensorType::get(shape, builder.getI64Type());
    Value constant =
        graph::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef<int64_t>(values)));
    return graph::BroadcastOp::create(builder, loc, RankedTensorType::get({1, queries, keys}, builder.getI64Type()),
                                      constant);
  }

  Value compare(graph::Predicate predicate, Value a, Value b) {
    auto type = RankedTensorType::get({1, queries, keys}, builder.getI1Type());
    return graph::CompareOp::create(builder, loc, type, predicate, a, b);
  }

  using Elements = std::vector<std::vector<bool>>; ///< by query and key

  /// Whether rows were found; if so they must say what the elements say.
  bool check(Value mask, const Elements &elements) {
    std::optional<MaskRows> found = findMaskRows(mask, queries, keys);
    if (!found)
      return false;
    for (int64_t query = 0; query < queries; ++query)
      for (int64_t key = 0; key < keys; ++key) {
        KeyInterval row = found->rows[query];
        bool isInside = row.begin <= key && key < row.end;
        EXPECT_EQ((isInside ? found->inside : found->outside) != 0, elements[query][key])
            << "query " << query << " of " << queries << ", key " << key << " of " << keys;
      }
    return true;
  }
};

struct Comparison {
  graph::Predicate predicate;
  bool (*holds)(int64_t, int64_t);
};

const Comparison comparisons[] = {{graph::Predicate::eq, [](int64_t a, int64_t b) { return a == b; }},
                                  {graph::Predicate::ne, [](int64_t a, int64_t b) { return a != b; }},
                                  {graph::Predicate::lt, [](int64_t a, int64_t b) { return a < b; }},
                                  {graph::Predicate::le, [](int64_t a, int64_t b) { return a <= b; }},
                                  {graph::Predicate::gt, [](int64_t a, int64_t b) { return a > b; }},
                                  {graph::Predicate::ge, [](int64_t a, int64_t b) { return a >= b; }}};

// All positions of up to three queries and keys, ascending or not, whichever side the keys stand on, and the
// comparison joined with its window.
TEST_F(MaskRowsTest, Comparisons) {
  int found = 0, sorted = 0;
  for (queries = 1; queries <= 3; ++queries)
    for (keys = 1; keys <= 3; ++keys)
      for (int64_t code = 0; code < 27 * 27; ++code) {
        std::vector<int64_t> a, b;
        for (int64_t i = 0, rest = code; i < queries; ++i, rest /= 3)
          a.push_back(rest % 3);
        for (int64_t i = 0, rest = code / 27; i < keys; ++i, rest /= 3)
          b.push_back(rest % 3);
        for (auto [predicate, holds] : comparisons) {
          bool swaps = code % 2;
          Value x = positions(a, false), y = positions(b, true);
          Value past = swaps ? compare(predicate, y, x) : compare(predicate, x, y);
          Value window = compare(graph::Predicate::le, x, y);
          Elements one(queries, std::vector<bool>(keys)), both = one, either = one, neither = one;
          for (int64_t query = 0; query < queries; ++query)
            for (int64_t key = 0; key < keys; ++key) {
              bool p = swaps ? holds(b[key], a[query]) : holds(a[query], b[key]);
              bool w = a[query] <= b[key];
              one[query][key] = p, both[query][key] = p && w, either[query][key] = p || w, neither[query][key] = !p;
            }
          bool isFound = check(past, one);
          if (std::is_sorted(b.begin(), b.end()) && predicate != graph::Predicate::ne) {
            ++sorted;
            EXPECT_TRUE(isFound);
            EXPECT_TRUE(check(graph::AndOp::create(builder, loc, past, window), both));
          }
          found += isFound;
          check(graph::OrOp::create(builder, loc, past, window), either);
          check(graph::NotOp::create(builder, loc, past), neither);
        }
      }
  EXPECT_GT(sorted, 1000);
  EXPECT_GT(found, sorted);
}

TEST_F(MaskRowsTest, WhatChangesAlongOtherDimensionsIsNoMaskOfPositions) {
  queries = keys = 2;
  auto type = RankedTensorType::get({2, 1, 1}, builder.getI1Type());
  Value padding =
      graph::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef<bool>{true, false}));
  Value mask = graph::BroadcastOp::create(builder, loc, RankedTensorType::get({2, 2, 2}, builder.getI1Type()), padding);
  EXPECT_FALSE(findMaskRows(mask, queries, keys));
}

} // namespace
