// A step in predicted time, on a device of one operation and one byte per second: what is hidden, what is waited for, and that
// the parts add up to the step.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Estimate/StepTimes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using exec::Stream;

namespace {

struct StepTimesTest : testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Device device;

  StepTimesTest() {
    context.loadDialect<func::FuncDialect, graph::GraphDialect, exec::ExecDialect>();
    device.products = {1, 1, 1};
    device.bandwidth = 1e9; // what a call reads takes no time beside what it computes
    device.node.bandwidth = 1;
  }

  /// A run of @eight takes eight seconds, of @tied as many for what it exchanges in the middle.
  std::vector<StageTime> time(StringRef mesh, StringRef programs, RunOrder order) {
    std::string text = ("module attributes {dist.mesh = #dist.mesh<" + mesh + ">} {" + R"(
      func.func private @kernel(%x: tensor<8xf32>) -> tensor<8xf32> {
        %y = graph.exp %x : tensor<8xf32>
        return %y : tensor<8xf32>
      }
      func.func private @eight(%x: memref<8xf32>) {
        exec.call @kernel ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
        return
      }
      func.func private @product(%a: tensor<4x2xf32>, %b: tensor<2x4xf32>) -> tensor<4x4xf32> {
        %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
        return %y : tensor<4x4xf32>
      }
      func.func private @multiplied(%a: memref<4x2xf32>, %b: memref<2x4xf32>, %y: memref<4x4xf32>) {
        exec.call @product ins(%a, %b : memref<4x2xf32>, memref<2x4xf32>) outs(%y : memref<4x4xf32>) accumulate [0]
        return
      }
      func.func private @tied(%x: memref<8xf32>) {
        exec.call @kernel ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
        exec.collective all_gather %x to %x over <tp, [2, 1], []> outer 1 chunk 2 : memref<8xf32>, memref<8xf32>
        return
      })" + programs + "}")
                           .str();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
    EXPECT_TRUE(module);
    SmallVector<exec::ProgramOp> list(module->getOps<exec::ProgramOp>());
    Clock clock(*module, device, /*threads=*/1);
    std::vector<StageTime> times = timeStages(list, clock, order);
    for (const StageTime &stage : times) {
      EXPECT_DOUBLE_EQ(stage.compute + stage.exposed() + stage.waiting, stage.step);
      EXPECT_DOUBLE_EQ(std::accumulate(stage.kernels.begin(), stage.kernels.end(), 0.0), stage.compute);
    }
    return times;
  }
};

constexpr const char *kGathers = R"(
  exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
    exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
    exec.exchange all_gather "first" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 1 f32 on gather
    exec.run @eight "a F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F> after [0]
    exec.exchange all_gather "second" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 3 f32 on gather
    exec.run @eight "b F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F> after [2]
    exec.exchange all_reduce "last" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 16 f32 on reduce after [3]
  })";

// In a list all messages are waited for: 4 + 8 + 12 + 8 + 64.
TEST_F(StepTimesTest, AListWaitsForEachMessage) {
  StageTime stage = time("pp = 1, dp = 2, tp = 1, shards = 2", kGathers, RunOrder::List)[0];
  EXPECT_EQ(stage.step, 96);
  EXPECT_EQ(stage.compute, 16);
  EXPECT_EQ(stage.of(Stream::gather).predicted, 16);
  EXPECT_EQ(stage.of(Stream::gather).exposed, 16);
  EXPECT_EQ(stage.of(Stream::reduce).exposed, 64);
}

//   gather    |ff|ssssss|
//   compute      |aaaa|..|bbbb|          the first is waited for, of the second four of twelve seconds
//   reduce                    |llll...   the last with all its time
TEST_F(StepTimesTest, StreamsHideWhatComputationsCover) {
  StageTime stage = time("pp = 1, dp = 2, tp = 1, shards = 2", kGathers, RunOrder::Streams)[0];
  EXPECT_EQ(stage.step, 4 + 8 + 4 + 8 + 64);
  EXPECT_EQ(stage.of(Stream::gather).exposed, 4 + 4);
  EXPECT_EQ(stage.of(Stream::gather).hidden(), 8);
  EXPECT_EQ(stage.of(Stream::reduce).exposed, 64);
}

// Gradients of weights share the device with other computations: what they gain beside them is not predicted. A message goes on.
//
//   compute   |aaaa|    |bbbb|
//   weights        |wwww|
//   gather         |gggggg|
TEST_F(StepTimesTest, GradientsOfWeightsTakeTheDevice) {
  StageTime stage = time("pp = 1, dp = 2, tp = 1, shards = 2", R"(
  exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
    exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
    exec.run @eight "a I" micro 0 first true [#exec.place<0 + 0 + 0>] role <I>
    exec.run @eight "a W" micro 0 first true [#exec.place<0 + 0 + 0>] role <W> on weights after [0]
    exec.exchange all_gather "g" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 3 f32 on gather after [0]
    exec.run @eight "b I" micro 0 first true [#exec.place<0 + 0 + 0>] role <I> after [2]
  })",
                         RunOrder::Streams)[0];
  EXPECT_EQ(stage.step, 8 + 12 + 8);
  EXPECT_EQ(stage.compute, 24);
  EXPECT_EQ(stage.of(Stream::gather).exposed, 12 - 8);
  EXPECT_EQ(stage.of(Stream::weights).predicted, 0);
}

// Streams of a rank share its link: two messages that could begin at once take the time of both.
TEST_F(StepTimesTest, MessagesShareTheLink) {
  StageTime stage = time("pp = 1, dp = 2, tp = 1, shards = 2", R"(
    exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
      exec.exchange all_gather "g" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 1 f32 on gather
      exec.exchange reduce_scatter "r" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 2 f32 on reduce
    })",
                         RunOrder::Streams)[0];
  EXPECT_EQ(stage.step, 4 + 8);
}

// What a function exchanges in the middle is not hidden: two elements of four bytes.
TEST_F(StepTimesTest, TensorParallelMessagesAreExposed) {
  StageTime stage = time("pp = 1, dp = 1, tp = 2, shards = 1", R"(
    exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
      exec.run @tied "a F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
    })",
                         RunOrder::Streams)[0];
  EXPECT_EQ(stage.compute, 8);
  EXPECT_EQ(stage.tensor.predicted, 8);
  EXPECT_EQ(stage.tensor.exposed, 8);
  EXPECT_EQ(stage.step, 16);
}

constexpr const char *kPipeline = R"(
  exec.program @train_0 stage 0 micro_batches 1 arena 64 lower_bound 64 {
    exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
    exec.run @eight "a F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
    exec.send "send 0 to 1" message 0 to 1 <0 + 0 + 0> bytes 4 on send after [0]
  }
  exec.program @train_1 stage 1 micro_batches 1 arena 64 lower_bound 64 {
    exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
    exec.receive "receive 0 from 0" message 0 from 0 <0 + 0 + 0> bytes 4 on receive
    exec.run @eight "b F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F> after [0]
  })";

// The second stage waits eight seconds for the first to compute, which is no message's time, and four for the message.
TEST_F(StepTimesTest, WaitingForAStageIsNoMessage) {
  for (RunOrder order : {RunOrder::List, RunOrder::Streams}) {
    std::vector<StageTime> stages = time("pp = 2, dp = 1, tp = 1, shards = 1", kPipeline, order);
    EXPECT_EQ(stages[1].step, 20);
    EXPECT_EQ(stages[1].of(Stream::receive).exposed, 4);
    EXPECT_EQ(stages[1].waiting, 8);
    EXPECT_EQ(stages[0].step, 20);
  }
}

// A product of 64 operations: the 128 bytes that a CPU packs come beside them.
TEST_F(StepTimesTest, PackingComesBesideArithmetic) {
  constexpr const char *program = R"(
    exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
      exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
      exec.run @multiplied "a F" micro 0 first true [#exec.place<0 + 0 + 0>] role <F>
    })";
  StageTime alone = time("pp = 1, dp = 1, tp = 1, shards = 1", program, RunOrder::List)[0];
  EXPECT_EQ(alone.compute, 64);
  EXPECT_EQ(alone.kernels[size_t(KernelWork::Products)], 64);
  device.packing = {2, 1000, 1000};
  EXPECT_EQ(time("pp = 1, dp = 1, tp = 1, shards = 1", program, RunOrder::List)[0].compute, 64 + 64);
}

// A CPU's cores are shared: two ranks of two threads on two cores have one each.
TEST_F(StepTimesTest, RanksShareTheCoresOfACpu) {
  device.cores = 2;
  time("pp = 1, dp = 2, tp = 1, shards = 2", kGathers, RunOrder::List);
  exec::ProgramOp program = *module->getOps<exec::ProgramOp>().begin();
  exec::RunOp run = *program.getBody().front().getOps<exec::RunOp>().begin();
  EXPECT_EQ(Clock(*module, device, /*threads=*/1).ofRun(run).compute(), 8);
  EXPECT_EQ(Clock(*module, device, /*threads=*/2).ofRun(run).compute(), 8);
  device.cores = 4;
  EXPECT_EQ(Clock(*module, device, /*threads=*/2).ofRun(run).compute(), 4);
}

// One thread calls by itself; two begin and end a call together.
TEST_F(StepTimesTest, ThreadsOfARankMeet) {
  device.cores = 4, device.call = 10, device.meeting = 5;
  time("pp = 1, dp = 2, tp = 1, shards = 2", kGathers, RunOrder::List);
  exec::ProgramOp program = *module->getOps<exec::ProgramOp>().begin();
  exec::RunOp run = *program.getBody().front().getOps<exec::RunOp>().begin();
  EXPECT_EQ(Clock(*module, device, /*threads=*/1).ofRun(run).compute(), 10);
  EXPECT_EQ(Clock(*module, device, /*threads=*/2).ofRun(run).compute(), 10 + 5);
}

// Of four ranks all meet, and two and two.
constexpr const char *kGroups = R"(
  exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
    exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 4 persistent
    exec.exchange all_gather "all" over <dp, [4, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 1 f32 on gather
    exec.exchange all_gather "near" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 1 f32 on gather
  })";

// Four ranks that meet on two cores wait for each other asleep; two of them do not.
TEST_F(StepTimesTest, RanksThatCrowdACpuAreWoken) {
  device.cores = 2, device.crowding = 7;
  time("pp = 1, dp = 4, tp = 1, shards = 4", kGroups, RunOrder::List);
  exec::ProgramOp program = *module->getOps<exec::ProgramOp>().begin();
  SmallVector<exec::ExchangeOp> exchanges(program.getBody().front().getOps<exec::ExchangeOp>());
  Clock clock(*module, device, /*threads=*/1);
  EXPECT_EQ(clock.ofExchange(exchanges[0]), 3 * 4 + 7);
  EXPECT_EQ(clock.ofExchange(exchanges[1]), 4);
}

// Of four ranks two stand in each machine: a group of all crosses the network, with two adapters a machine.
TEST_F(StepTimesTest, GroupsOfSeveralMachinesCrossTheNetwork) {
  device.devicesPerNode = 2, device.network = {0.25, 3};
  time("pp = 1, dp = 4, tp = 1, shards = 4", kGroups, RunOrder::List);
  exec::ProgramOp program = *module->getOps<exec::ProgramOp>().begin();
  SmallVector<exec::ExchangeOp> exchanges(program.getBody().front().getOps<exec::ExchangeOp>());
  Clock clock(*module, device, /*threads=*/1);
  EXPECT_EQ(clock.ofExchange(exchanges[0]), 3 + 3 * 4 / 0.5);
  EXPECT_EQ(clock.ofExchange(exchanges[1]), 4);
}

} // namespace
