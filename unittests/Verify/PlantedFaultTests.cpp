// What a wrong compiler would make of a program, one fault each: the judge accepts the program as it is and finds the
// fault. It knows nothing of how faults are planted.
#include "Judged.h"
#include "xlc/Dialect/Graph/Graph.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

namespace {

/// y = x - exp(w)
const Judged pointwise{{{"8x40xf32"}, {"8x40xf32"}, {"8x40xf32", Slot::Scratch}},
                       R"(func.func private @k(%x: tensor<8x40xf32>, %w: tensor<8x40xf32>) -> tensor<8x40xf32>
                            attributes {exec.kind = #exec.kernel<loop>} {
                            %e = graph.exp %w : tensor<8x40xf32>
                            %y = graph.sub %x, %e : tensor<8x40xf32>
                            return %y : tensor<8x40xf32>
                          })",
                       R"(exec.call @k ins(%0, %1 : memref<8x40xf32>, memref<8x40xf32>)
                            outs(%2 : memref<8x40xf32>) accumulate [0])"};

/// y = a b, then y += a b
const Judged product{{{"16x16xf32"}, {"16x16xf32"}, {"16x16xf32", Slot::Scratch}, {"1048576xi1", Slot::Scratch}},
                     R"(func.func private @k(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32>
         attributes {exec.kind = #exec.kernel<library>} {
         %y = graph.contract "ik,kj->ij" %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
         return %y : tensor<16x16xf32>
       })",
                     R"(exec.call @k ins(%0, %1 : memref<16x16xf32>, memref<16x16xf32>) outs(%2 : memref<16x16xf32>)
         workspace(%3 : memref<1048576xi1>) accumulate [0]
       exec.call @k ins(%0, %1 : memref<16x16xf32>, memref<16x16xf32>) outs(%2 : memref<16x16xf32>)
         workspace(%3 : memref<1048576xi1>) accumulate [1])"};

/// Rows 3, 2, 1, 0 of x.
Judged gather(int64_t to) {
  std::string out = "%" + std::to_string(to);
  return {
      {{"4x16xf32"}, {"4x16xf32", Slot::Scratch}},
      R"(func.func private @k(%x: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {exec.kind = #exec.kernel<loop>} {
               %i = graph.constant dense<[3, 2, 1, 0]> : tensor<4xi64>
               %y = graph.gather %x, %i dim 0 : (tensor<4x16xf32>, tensor<4xi64>) -> tensor<4x16xf32>
               return %y : tensor<4x16xf32>
             })",
      "exec.call @k ins(%0 : memref<4x16xf32>) outs(" + out + " : memref<4x16xf32>) accumulate [0]"};
}

template <class Op> Op findFirst(ModuleOp module) {
  Op found;
  module.walk([&](Op op) {
    if (!found)
      found = op;
  });
  return found;
}

void expectFound(const Judged &program, const std::function<void(ModuleOp)> &fault, const std::string &words) {
  verify::KernelReport fine = program.run();
  EXPECT_TRUE(fine.isEqual()) << fine.summary();
  EXPECT_GT(fine.elements, 0);
  verify::KernelReport report = program.run(fault);
  EXPECT_FALSE(report.isEqual());
  ASSERT_FALSE(report.differences.empty());
  EXPECT_NE(report.differences[0].find(words), std::string::npos) << report.differences[0];
}

TEST(PlantedFault, OperandsChangePlaces) {
  expectFound(
      pointwise,
      [](ModuleOp module) {
        auto sub = findFirst<graph::SubOp>(module);
        sub->setOperands({sub.getB(), sub.getA()});
      },
      "step 1, rank 0, action 'layer F', call 'k': element 0 of result 0 is");
}

TEST(PlantedFault, OpIsLeftOut) {
  expectFound(
      pointwise,
      [](ModuleOp module) {
        auto exp = findFirst<graph::ExpOp>(module);
        exp.getResult().replaceAllUsesWith(exp.getOperand());
      },
      "result 0");
}

TEST(PlantedFault, OperandBeginsOneElementLate) {
  expectFound(
      pointwise,
      [](ModuleOp module) {
        auto run = findFirst<exec::RunOp>(module);
        SmallVector<Attribute> places(run.getPlaces().getValue());
        places[1] = exec::PlaceAttr::get(module.getContext(), 1, 4, 0);
        run.setPlacesAttr(ArrayAttr::get(module.getContext(), places));
      },
      "result 0");
}

TEST(PlantedFault, ResultIsWrittenElsewhere) {
  expectFound(
      pointwise,
      [](ModuleOp module) {
        auto call = findFirst<exec::CallOp>(module);
        call.getOutsMutable().assign(call.getIns()[0]);
      },
      "changed byte 0 of the arena, outside its results");
}

TEST(PlantedFault, MatrixIsTransposed) {
  expectFound(product, [](ModuleOp module) { findFirst<graph::ContractOp>(module).setSpec("ki,kj->ij"); }, "call 'k'");
}

TEST(PlantedFault, SumIsOverwritten) {
  expectFound(
      product,
      [](ModuleOp module) {
        exec::CallOp last;
        module.walk([&](exec::CallOp call) { last = call; });
        last.setAccumulate({0});
      },
      "result 0");
}

/// The product beside a buffer of another call, which lies below its workspace.
const Judged productBesideAnother{
    {{"16x16xf32"}, {"16x16xf32"}, {"16x16xf32", Slot::Scratch}, {"65536xf32"}, {"1048576xi1", Slot::Scratch}},
    product.kernels,
    R"(exec.call @k ins(%0, %1 : memref<16x16xf32>, memref<16x16xf32>)
                                       outs(%2 : memref<16x16xf32>) workspace(%4 : memref<1048576xi1>) accumulate [0])"};

/// The workspace of the product where `place` is.
std::function<void(ModuleOp)> bindWorkspace(int64_t buffer, int64_t offset) {
  return [=](ModuleOp module) {
    auto run = findFirst<exec::RunOp>(module);
    SmallVector<Attribute> places(run.getPlaces().getValue());
    places[4] = exec::PlaceAttr::get(module.getContext(), buffer, offset, 0);
    run.setPlacesAttr(ArrayAttr::get(module.getContext(), places));
  };
}

TEST(PlantedFault, WorkspaceBeginsTooLow) {
  expectFound(productBesideAnother, bindWorkspace(3, 65536 * 4 - 64),
              "call 'k': its workspace in the arena is at byte 265152, but must be at byte 265216");
}

TEST(PlantedFault, WorkspaceIsALiveBuffer) {
  expectFound(productBesideAnother, bindWorkspace(3, 0),
              "its workspace in the arena is at byte 3072, but must be at byte 265216");
}

/// What a workspace that is bound wrongly spoils is found as well where it lies beside the right one.
TEST(PlantedFault, BytesBelowTheWorkspaceAreWritten) {
  verify::KernelReport report = productBesideAnother.run(bindWorkspace(3, 65536 * 4 - 64));
  EXPECT_EQ(report.differing, 2) << report.summary();
}

TEST(PlantedFault, AnOperandOfManyElementsBeginsLate) {
  Judged large = pointwise; // judged in pieces
  std::string many = std::to_string((1 << 22) + 5);
  auto enlarge = [&](std::string text) {
    for (size_t at; (at = text.find("8x40")) != std::string::npos;)
      text.replace(at, 4, many);
    return text;
  };
  for (Slot &slot : large.slots)
    slot.type = enlarge(slot.type);
  large.kernels = enlarge(large.kernels), large.calls = enlarge(large.calls);
  verify::KernelReport fine = large.run();
  EXPECT_TRUE(fine.isEqual()) << fine.summary();
  EXPECT_EQ(fine.elements, (1 << 22) + 5);
  verify::KernelReport report = large.run([](ModuleOp module) {
    auto exp = findFirst<graph::ExpOp>(module);
    exp.getResult().replaceAllUsesWith(exp.getOperand());
  });
  EXPECT_GT(report.differing, 1 << 21) << "elements are off in all pieces";
}

TEST(PlantedFault, GatherBecomesIdentity) {
  expectFound(
      gather(1),
      [](ModuleOp module) {
        auto gather = findFirst<graph::GatherOp>(module);
        gather.getResult().replaceAllUsesWith(gather->getOperand(0));
      },
      "element 0 of result 0");
}

TEST(PlantedFault, GatherInPlaceReadsWhatItHasWritten) {
  EXPECT_TRUE(gather(1).run().isEqual());
  verify::KernelReport report = gather(0).run(); // the program itself is wrong
  EXPECT_FALSE(report.isEqual());
}

/// The module of a job of pp x dp ranks, whose programs run @f: y = x x
std::string jobOf(int pp, int dp, const std::string &programs) {
  return "module attributes {dist.mesh = #dist.mesh<pp = " + std::to_string(pp) + ", dp = " + std::to_string(dp) +
         R"(, tp = 1, shards = 1>} {
func.func private @k(%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.mul %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
  exec.call @k ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) accumulate [0]
  return
}
)" + programs +
         "}";
}

/// A program of actions on two buffers, x and y.
std::string programOf(int stage, const std::vector<std::string> &actions) {
  std::string number = std::to_string(stage), live = " live 0 to " + std::to_string(actions.size() - 1) + "\n";
  std::string text = "exec.program @train_" + number + " stage " + number +
                     R"( micro_batches 1 arena 576 lower_bound 576 {
  exec.buffer 0 workspace "x" size 256 offset 0)" +
                     live + R"(  exec.buffer 1 workspace "y" size 256 offset 256)" + live +
                     numbersAt(2, 512, actions.size() - 1);
  for (const std::string &action : actions)
    text += "  " + action + "\n";
  return text + "}\n";
}

const std::string draw = R"(exec.load micro 0 ["in0"] to [#exec.place<0 + 0 + 0>])",
                  run = "exec.run @f \"layer F\" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>] "
                        "role <F>";

/// Two ranks draw rows of their own, fill y with the square of them and sum over dp.
const Judged sumOverRanks{
    {{"64xf32"}, {"64xf32", Slot::Scratch}},
    "",
    "",
    jobOf(1, 2,
          programOf(0, {draw, run,
                        R"(exec.exchange all_reduce "all_reduce y" over <dp, [2, 1], []> #exec.place<1 + 0 + 0>)"
                        " to #exec.place<1 + 0 + 0> count 64 f32"}))};

TEST(PlantedFault, SumStopsShort) {
  expectFound(
      sumOverRanks, [](ModuleOp module) { findFirst<exec::ExchangeOp>(module).setCount(63); },
      "action 'all_reduce y', all_reduce: element 63 is");
}

/// What stage 0 drew goes to stage 1.
const Judged transfer{
    {{"64xf32"}},
    "",
    "",
    jobOf(2, 1,
          programOf(0, {draw, R"(exec.send "send 0 to 1" message 0 to 1 #exec.place<0 + 0 + 0> bytes 256)"}) +
              programOf(
                  1, {R"(exec.receive "receive 0 from 0" message 0 from 0 #exec.place<0 + 0 + 0> bytes 256)", run}))};

TEST(PlantedFault, AnotherBufferIsSent) {
  expectFound(
      transfer,
      [](ModuleOp module) {
        findFirst<exec::SendOp>(module).setPlaceAttr(exec::PlaceAttr::get(module.getContext(), 1, 0, 0));
      },
      "action 'receive 0 from 0', transfer: did not deliver the data that was sent");
}

} // namespace
