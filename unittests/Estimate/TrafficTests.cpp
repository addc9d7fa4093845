// Bytes read from other ranks, against a replay of what the runtime's collectives read, for all small cases.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Estimate/ResidualSlots.h"
#include "xlc/Estimate/Traffic.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

struct TrafficTest : testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  TrafficTest() { context.loadDialect<func::FuncDialect, exec::ExecDialect>(); }

  exec::ProgramOp parse(int64_t ranks, int64_t shards, const std::string &action) {
    module = parseSourceString<ModuleOp>(
        "func.func private @f()\nexec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {\n" + action +
            "\n}",
        &context);
    setMesh(1, ranks, 1, shards);
    return *module->getOps<exec::ProgramOp>().begin();
  }

  void setMesh(int64_t pp, int64_t dp, int64_t tp, int64_t shards) {
    (*module)->setAttr(dist::kMesh, dist::MeshAttr::get(&context, pp, dp, tp, shards));
  }

  /// `over` the group of so many ranks, so far apart.
  static std::string over(int64_t count, int64_t stride) {
    return " over <dp, [" + std::to_string(count) + ", " + std::to_string(stride) + "], []> ";
  }
};

// The sum over all ranks does not depend on how an all_reduce is cut: 2 (n - 1) count elements.
TEST_F(TrafficTest, AllReduce) {
  for (int64_t ranks = 1; ranks <= 8; ++ranks)
    for (int64_t count : {1, 15, 16, 17, 64, 100, 1000}) {
      parse(ranks, 1,
            "exec.exchange all_reduce \"r\"" + over(ranks, 1) + "<0 + 0 + 0> to <0 + 0 + 0> count " +
                std::to_string(count) + " f64");
      EXPECT_EQ(trafficOfAllRanks(*module).sum().allReduce, 2 * (ranks - 1) * count * 8)
          << ranks << " ranks, " << count;
    }
}

// 100 elements on four ranks are cut in slices of 32: ranks 0 to 2 sum 32, rank 3 sums 4 and copies 96.
TEST_F(TrafficTest, RanksDifferByTheShortSlice) {
  auto program =
      parse(4, 1, "exec.exchange all_reduce \"r\"" + over(4, 1) + "<0 + 0 + 0> to <0 + 0 + 0> count 100 f32");
  EXPECT_EQ(trafficOfRank(program, 0).sum().allReduce, 4 * (3 * 32 + 68));
  EXPECT_EQ(trafficOfRank(program, 3).sum().allReduce, 4 * (3 * 4 + 96));
}

TEST_F(TrafficTest, GroupsOfHybridSharding) {
  auto gather = parse(6, 2, "exec.exchange all_gather \"g\"" + over(2, 1) + "<0 + 0 + 0> to <0 + 0 + 0> count 64 f32");
  EXPECT_EQ(trafficOfRank(gather, 5).sum().allGather, 1 * 64 * 4);
  EXPECT_EQ(trafficOfAllRanks(*module).sum().allGather, 6 * 64 * 4);
  auto reduce = parse(6, 2, "exec.exchange all_reduce \"r\"" + over(3, 2) + "<0 + 0 + 0> to <0 + 0 + 0> count 96 f32");
  EXPECT_EQ(trafficOfRank(reduce, 0).sum().allReduce, (2 * 32 + 64) * 4);
}

// What is reckoned once for all equal ranks is the sum, and the maximum, over ranks one by one.
TEST_F(TrafficTest, AllRanksAtOnce) {
  for (auto [ranks, shards] : {std::pair(1, 1), std::pair(5, 5), std::pair(6, 2), std::pair(8, 4), std::pair(9, 1)})
    for (std::string group : {over(ranks, 1), over(shards, 1), over(ranks / shards, shards)}) {
      auto program = parse(ranks, shards,
                           "exec.exchange all_reduce \"r\"" + group + "<0 + 0 + 0> to <0 + 0 + 0> count 100 f32\n" +
                               "exec.exchange all_reduce \"s\"" + group + "<0 + 0 + 0> to <0 + 0 + 0> count 3 f64\n" +
                               "exec.exchange all_gather \"g\"" + group + "<0 + 0 + 0> to <0 + 0 + 0> count 64 f32");
      Traffic sum, largest;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        Traffic traffic = trafficOfRank(program, rank);
        sum += traffic;
        largest = traffic.total() > largest.total() ? traffic : largest;
      }
      EXPECT_EQ(trafficOfAllRanks(*module).total(), sum.total()) << group << " of " << ranks;
      EXPECT_EQ(trafficOfAllRanks(*module).smallMessages, sum.smallMessages) << group << " of " << ranks;
      EXPECT_EQ(trafficOfLargest(program).total(), largest.total()) << group << " of " << ranks;
    }
}

// Of a [2, 3, 4 ranks, 5] that is turned around, a rank reads a quarter from each of the three others.
TEST_F(TrafficTest, AllToAllInAFunction) {
  module = parseSourceString<ModuleOp>(R"(
    func.func private @turn(%x: memref<120xf32>, %y: memref<120xf32>) {
      exec.collective all_to_all %x to %y over <tp, [4, 1], []> outer 2 rows 3 chunk 5 : memref<120xf32>, memref<120xf32>
      return
    }
    exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.run @turn "turn" micro 0 first true []
    })",
                                       &context);
  setMesh(1, 1, 4, 1);
  auto program = *module->getOps<exec::ProgramOp>().begin();
  EXPECT_EQ(trafficOfRank(program, 1).along(dist::Axis::tp).allToAll, 3 * 30 * 4);
  EXPECT_EQ(trafficOfAllRanks(*module).along(dist::Axis::tp).allToAll, 4 * 3 * 30 * 4);
  EXPECT_EQ(trafficOfAllRanks(*module).total(), 4 * 3 * 30 * 4);
}

TEST_F(TrafficTest, ScalarsAreSmallMessages) {
  auto program =
      parse(2, 2,
            "exec.exchange all_reduce \"loss\"" + over(2, 1) + "<0 + 0 + 0> to <0 + 0 + 0> count 1 f32\n" +
                "exec.exchange reduce_scatter \"b\"" + over(2, 1) + "<0 + 0 + 0> to <0 + 0 + 0> count 64 f32");
  Traffic traffic = trafficOfRank(program, 1);
  EXPECT_EQ(traffic.smallMessages, 4);
  EXPECT_EQ(traffic.sum().reduceScatter, 256);
  EXPECT_EQ(traffic.total(), 260);
}

// Messages count along their axis: a transfer along pp, what is inside a function once for each run of it.
TEST_F(TrafficTest, MessagesCountAlongTheirAxis) {
  context.loadDialect<func::FuncDialect>();
  module = parseSourceString<ModuleOp>(R"(
    func.func private @layer(%x: memref<6xf32>, %y: memref<12xf32>) {
      exec.collective all_gather %x to %y over <tp, [2, 1], []> outer 3 chunk 2 : memref<6xf32>, memref<12xf32>
      return
    }
    exec.program @train_0 stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.run @layer "l" micro 0 first true []
      exec.run @layer "l" micro 0 first true []
      exec.send "s" message 0 to 1 <0 + 0 + 0> bytes 40
      exec.exchange all_reduce "tied" over <pp, [], [0, 1]> <0 + 0 + 0> to <0 + 0 + 0> count 32 f32
    }
    exec.program @train_1 stage 1 micro_batches 1 arena 64 lower_bound 64 {
      exec.receive "r" message 0 from 0 <0 + 0 + 0> bytes 40
      exec.exchange all_reduce "tied" over <pp, [], [0, 1]> <0 + 0 + 0> to <0 + 0 + 0> count 32 f32
    })",
                                       &context);
  ASSERT_TRUE(module);
  setMesh(2, 1, 2, 1);
  Traffic sum, all = trafficOfAllRanks(*module);
  for (auto program : module->getOps<exec::ProgramOp>())
    for (int64_t tp : {0, 1})
      sum += trafficOfRank(program, program.getMesh().rankOf(program.getStage(), 0, tp));
  EXPECT_EQ(all.along(dist::Axis::tp).allGather, 2 * 2 * 24);
  EXPECT_EQ(all.along(dist::Axis::pp).transfer, 2 * 40);
  EXPECT_EQ(all.along(dist::Axis::pp).allReduce, 2 * 2 * 32 * 4);
  for (auto [i, bytes] : llvm::enumerate(all.axes)) {
    StringRef axis = stringifyAxis(dist::Axis(i));
    EXPECT_EQ(bytes.allGather, sum.axes[i].allGather) << axis.str();
    EXPECT_EQ(bytes.allReduce, sum.axes[i].allReduce) << axis.str();
    EXPECT_EQ(bytes.transfer, sum.axes[i].transfer) << axis.str();
  }
}

// Two micro-batches in flight, of which the second is forwarded while backward of the first is under way; and two
// chunks of one micro-batch, with a transfer between them.
TEST_F(TrafficTest, ResidualSlots) {
  auto program = parse(1, 1, R"(
      exec.buffer 0 residuals "a" size 8 offset 0 live 0 to 4
      exec.buffer 1 residuals "b" size 8 offset 8 live 1 to 3
      exec.buffer 2 residuals "c" size 8 offset 16 live 2 to 5
      exec.buffer 3 workspace "d" size 8 offset 24 live 2 to 5
      exec.buffer 4 residuals "e" size 8 offset 24 live 6 to 8
      exec.run @f "a[0] F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
      exec.run @f "a[1] F" micro 0 first true [#exec.place<1 + 0 + 0>] role <F>
      exec.run @f "a[0] F" micro 1 first true [#exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>] role <F>
      exec.run @f "a[1] B" micro 0 first true [#exec.place<1 + 0 + 0>] role <B>
      exec.run @f "a[0] B" micro 0 first true [#exec.place<0 + 0 + 0>] role <B>
      exec.run @f "a[0] B" micro 1 first true [#exec.place<2 + 0 + 0>] role <B>
      exec.run @f "a[0] F" micro 0 first true [#exec.place<4 + 0 + 0>] role <F>
      exec.release "x" <0 + 0 + 0> bytes 8
      exec.run @f "a[0] B" micro 0 first true [#exec.place<4 + 0 + 0>] role <B>)");
  EXPECT_EQ(countResidualSlots(program), 2);
  program = parse(1, 1, R"(
      exec.buffer 0 residuals "a" size 8 offset 0 live 0 to 4
      exec.buffer 1 residuals "b" size 8 offset 8 live 2 to 3
      exec.run @f "a[0] F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
      exec.send "s" message 0 to 1 <0 + 0 + 0> bytes 8
      exec.run @f "a[1] F" micro 0 first true [#exec.place<1 + 0 + 0>] role <F>
      exec.run @f "a[1] B" micro 0 first true [#exec.place<1 + 0 + 0>] role <B>
      exec.run @f "a[0] B" micro 0 first true [#exec.place<0 + 0 + 0>] role <B>)");
  EXPECT_EQ(countResidualSlots(program), 2);
}

} // namespace
