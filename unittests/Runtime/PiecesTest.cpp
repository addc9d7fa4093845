// Pieces of parameters, exhaustively for small shapes: every element of the whole lies in one piece, and is found
// there.
#include "State/States.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

TEST(Pieces, EveryElementLiesInOnePieceAndIsFoundThere) {
  for (uint64_t rows = 1; rows <= 3; ++rows)
    for (uint64_t columns = 1; columns <= 9; ++columns)
      for (uint64_t outer = 1; outer <= 3; ++outer)
        for (uint32_t parts = 1; parts <= 4; ++parts)
          for (uint32_t dim = 0; dim < 2; ++dim) {
            if ((dim ? columns : rows) % outer != 0)
              continue;
            Plan plan;
            auto group = std::make_unique<plan::RankGroupT>();
            group->digits = {parts, 1};
            plan.rank_groups.push_back(std::move(group));
            plan::ParameterT parameter;
            parameter.shape = {rows, columns};
            parameter.layout = std::make_unique<plan::LayoutT>();
            parameter.layout->dim = dim, parameter.layout->outer = outer;
            PieceShape shape = shapeOf(plan, parameter);
            uint64_t local = rows * columns / (dim ? columns : rows) * outer * shape.block, seen = 0;
            for (uint64_t index = 0; index < parts; ++index)
              shape.forEachRun(index, 0, local, [&](uint64_t inPiece, uint64_t inWhole, uint64_t count) {
                ASSERT_LE(inPiece + count, local);
                for (uint64_t k = 0; k < count; ++k) {
                  PieceShape::Found found = shape.find(inWhole + k);
                  ASSERT_EQ(found.index, index);
                  ASSERT_EQ(found.inPiece, inPiece + k);
                  ASSERT_GE(found.count, count - k);
                }
                seen += count;
              });
            ASSERT_EQ(seen, rows * columns) << rows << "x" << columns << " dim " << dim << " outer " << outer;
          }
}

// [2, 3 runs of 4] over two ranks: rank 1 holds columns 2, 3 of each run.
TEST(Pieces, AFusedWeightIsCutWithinEachOfItsRuns) {
  Plan plan;
  auto group = std::make_unique<plan::RankGroupT>();
  group->digits = {2, 1};
  plan.rank_groups.push_back(std::move(group));
  plan::ParameterT parameter;
  parameter.shape = {2, 12};
  parameter.layout = std::make_unique<plan::LayoutT>();
  parameter.layout->dim = 1, parameter.layout->outer = 3;
  std::vector<uint64_t> begins;
  shapeOf(plan, parameter).forEachRun(1, 1, 11, [&](uint64_t, uint64_t inWhole, uint64_t count) {
    begins.push_back(inWhole * 10 + count);
  });
  EXPECT_EQ(begins, (std::vector<uint64_t>{31, 62, 102, 142, 182, 221}));
}

} // namespace
