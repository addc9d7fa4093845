// Who meets whom: every group splits the ranks into classes of its size, and an index names one rank of a class.
#include "mlir/IR/MLIRContext.h"
#include "xlc/Dialect/Dist/Dist.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc::dist;

namespace {

struct GroupTests : testing::Test {
  MLIRContext context;
  GroupTests() { context.loadDialect<DistDialect>(); }
};

TEST_F(GroupTests, RanksOfASmallMesh) {
  auto mesh = MeshAttr::get(&context, /*pp=*/2, /*dp=*/4, /*tp=*/2, /*shards=*/2);
  EXPECT_EQ(mesh.getRanks(), 16);
  EXPECT_EQ(mesh.rankOf(1, 2, 1), 13);
  using Ranks = SmallVector<int64_t>;
  EXPECT_EQ(GroupAttr::tensorParallel(&context, 2).members(mesh, 13), (Ranks{12, 13}));
  EXPECT_EQ(GroupAttr::dataParallel(mesh).members(mesh, 13), (Ranks{9, 11, 13, 15}));
  EXPECT_EQ(GroupAttr::shards(mesh).members(mesh, 13), (Ranks{13, 15}));
  EXPECT_EQ(GroupAttr::replicas(mesh).members(mesh, 13), (Ranks{9, 13}));
  EXPECT_EQ(GroupAttr::tensorParallel(&context, 1).across(Axis::pp, {0, 1}).members(mesh, 13), (Ranks{5, 13}));
  EXPECT_EQ(GroupAttr::shards(mesh).with(Axis::world, GroupAttr::tensorParallel(&context, 2)).members(mesh, 13),
            (Ranks{12, 13, 14, 15}));
}

TEST_F(GroupTests, SubAxesOfTensorParallelism) { // two key-value heads on four ranks
  auto mesh = MeshAttr::get(&context, 1, 2, 4, 2);
  auto heads = GroupAttr::tensorParallel(&context, 2, 2), copies = GroupAttr::tensorParallel(&context, 2, 1);
  EXPECT_EQ(heads.members(mesh, 7), (SmallVector<int64_t>{5, 7}));
  EXPECT_EQ(heads.indexOf(mesh, 7), 1);
  EXPECT_EQ(copies.members(mesh, 7), (SmallVector<int64_t>{6, 7}));
}

TEST_F(GroupTests, EveryRankFindsItselfAtItsIndex) {
  for (int64_t pp : {1, 2})
    for (int64_t dp : {1, 2, 4, 6})
      for (int64_t tp : {1, 2, 3}) {
        auto mesh = MeshAttr::get(&context, pp, dp, tp, dp == 6 ? 3 : dp);
        for (GroupAttr group : {GroupAttr::dataParallel(mesh), GroupAttr::shards(mesh), GroupAttr::replicas(mesh),
                                GroupAttr::tensorParallel(&context, tp)})
          for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
            SmallVector<int64_t> members = group.members(mesh, rank);
            ASSERT_EQ((int64_t)members.size(), group.size());
            EXPECT_EQ(members[group.indexOf(mesh, rank)], rank);
            EXPECT_EQ(group.members(mesh, members.back()), members);
          }
      }
}

TEST_F(GroupTests, AVocabularyThatDoesNotDivide) { // 5 rows on 4 ranks: 2, 2, 1, 0
  auto layout =
      LayoutAttr::get(&context, DenseI64ArrayAttr::get(&context, {5, 8}), 0, 1, GroupAttr::tensorParallel(&context, 4));
  EXPECT_EQ(layout.localShape(), (SmallVector<int64_t>{2, 8}));
  EXPECT_EQ(layout.validOf(1), 2);
  EXPECT_EQ(layout.validOf(2), 1);
  EXPECT_EQ(layout.validOf(3), 0);
}

} // namespace
