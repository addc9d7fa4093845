// Faults that are planted in the plan of a program of several GPUs: in what actions wait for, in what ranks or stages do together. The
// plan's own checks find them before the first step, or the simulated device with the calls that do not fit; none hangs.
#include "FaultyProgram.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

const std::string unordered = "the two accesses are not ordered";

using Steps = std::vector<std::unique_ptr<plan::StepT>>;

/// The number of the first step, from `from` on, that is as asked. Aborts where there is none.
template <class IsIt> size_t find(const Steps &steps, IsIt isIt, size_t from = 0) {
  for (size_t i = from; i < steps.size(); ++i)
    if (isIt(*steps[i]))
      return i;
  std::abort();
}

size_t findLabel(const Steps &steps, const std::string &label, size_t from = 0) {
  return find(steps, [&](const plan::StepT &step) { return step.label == label; }, from);
}

/// Nobody waits for this action any more.
void forget(Steps &steps, size_t action) {
  for (const auto &step : steps)
    std::erase(step->after, (uint32_t)action);
}

/// A rank does nothing where the others meet.
void leaveOut(plan::StepT &step) {
  plan::ReleaseT nothing;
  nothing.place = std::make_unique<plan::Place>();
  step.action.Set(std::move(nothing));
}

// Two ranks that hold the same parameters --------------------------------------------------------------------------------

class FaultsOfReplicas : public testing::Test {
protected:
  static void SetUpTestSuite() {
    program = std::make_unique<FaultyProgram>("examples/mlp/logits.onnx",
                                              "dp: 2\nzero_stage: 1\nbatch: {global: 16, micro: 4}\n"
                                              "loss: {type: cross_entropy, logits: logits, labels: y}\n"
                                              "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
                                              "data: {train: " XLC_INPUTS "/examples/mlp}\n");
  }
  static void TearDownTestSuite() { program.reset(); }

  static Steps &stepsOf(Plan &plan) { return plan.programs[0]->steps; }
  static plan::StepT &stepOf(Plan &plan, const std::string &label) {
    return *stepsOf(plan)[findLabel(stepsOf(plan), label)];
  }
  static void expectFound(const Damage &damage, const std::string &words) { program->expectFound(damage, words); }
  /// In the plan of one rank alone.
  static void expectFoundInOne(const Damage &damage, const std::string &words) {
    program->expectFound({leaveSound, damage}, words);
  }

  static inline std::unique_ptr<FaultyProgram> program;
};

TEST_F(FaultsOfReplicas, ARankOfItsOwnProcessIsAsAThread) {
  EXPECT_EQ(program->train({leaveSound, leaveSound}).losses, program->train({leaveSound}).losses);
}

TEST_F(FaultsOfReplicas, ACollectiveDoesNotWaitForItsData) {
  expectFound([](Plan &plan) { stepOf(plan, "reduce_scatter bucket_0").after.clear(); }, unordered);
}

TEST_F(FaultsOfReplicas, ACollectiveWaitsForTheFirstMicroBatchAlone) {
  expectFound(
      [](Plan &plan) {
        stepOf(plan, "reduce_scatter bucket_0").after = {(uint32_t)findLabel(stepsOf(plan), "model[0] B")};
      },
      unordered);
}

TEST_F(FaultsOfReplicas, NobodyWaitsForACollective) {
  expectFound([](Plan &plan) { forget(stepsOf(plan), findLabel(stepsOf(plan), "reduce_scatter bucket_0")); },
              unordered);
}

TEST_F(FaultsOfReplicas, TheWaitForACollectiveComesLate) {
  expectFound(
      [](Plan &plan) { std::swap(stepOf(plan, "norm bucket_0 in parts").after, stepOf(plan, "norm bucket_0").after); },
      unordered);
}

TEST_F(FaultsOfReplicas, ParametersAreGatheredBeforeTheirUpdate) {
  expectFound(
      [](Plan &plan) { stepOf(plan, "all_gather bucket_0").after = {(uint32_t)findLabel(stepsOf(plan), "scalars")}; },
      unordered);
}

TEST_F(FaultsOfReplicas, ACollectiveUsesMemoryInWhichACallComputes) {
  expectFound(
      [](Plan &plan) {
        const auto *squares = stepOf(plan, "all_reduce sum_squares").action.AsExchange();
        *stepOf(plan, "all_reduce loss_sum").action.AsExchange()->dst = *squares->src;
      },
      unordered);
}

TEST_F(FaultsOfReplicas, AFunctionIsOnAStreamOfCollectives) {
  expectFound([](Plan &plan) { stepOf(plan, "update bucket_0").stream = plan::Stream::reduce; },
              "action 'update bucket_0' runs a function on a stream that is not for computations");
}

TEST_F(FaultsOfReplicas, ARankGivesFewer) {
  expectFoundInOne([](Plan &plan) { --stepOf(plan, "reduce_scatter bucket_0").action.AsExchange()->chunk; },
                   "ncclReduceScatter of 3135 elements of type 7");
}

TEST_F(FaultsOfReplicas, ARankGivesAnotherType) {
  expectFoundInOne(
      [](Plan &plan) { stepOf(plan, "reduce_scatter bucket_0").action.AsExchange()->element = plan::Element::I32; },
      "ncclReduceScatter of 3136 elements of type 2");
}

TEST_F(FaultsOfReplicas, ARankTakesTheLargest) {
  expectFoundInOne(
      [](Plan &plan) {
        stepOf(plan, "all_reduce loss_sum").action.AsExchange()->kind = plan::CollectiveKind::all_reduce_max;
      },
      "ncclAllReduce of 1 elements of type 7, maximum");
}

TEST_F(FaultsOfReplicas, ARankHasAnotherOrder) {
  expectFoundInOne(
      [](Plan &plan) {
        std::swap(stepOf(plan, "reduce_scatter bucket_0").action, stepOf(plan, "all_gather bucket_0").action);
      },
      "ncclAllGather of 3136 elements");
}

TEST_F(FaultsOfReplicas, ARankLeavesACollectiveOut) {
  expectFoundInOne([](Plan &plan) { leaveOut(stepOf(plan, "reduce_scatter bucket_0")); },
                   "ncclAllReduce of 1 elements");
}

TEST_F(FaultsOfReplicas, ARankLeavesAllCollectivesOut) {
  expectFoundInOne(
      [](Plan &plan) {
        for (const auto &step : stepsOf(plan))
          if (step->action.AsExchange())
            leaveOut(*step);
      },
      "rank 0 of a communicator waits for rank 1, which does not arrive at ncclReduceScatter of 3136 elements");
}

// Two stages -------------------------------------------------------------------------------------------------------------

class FaultsOfStages : public testing::Test {
protected:
  static void SetUpTestSuite() {
    program = std::make_unique<FaultyProgram>("examples/gpt2/loss.onnx",
                                              "pp: 2\npipeline: {schedule: 1f1b}\n"
                                              "batch: {global: 2, micro: 1}\ndims: {sequence: 32}\n"
                                              "optimizer: {type: adamw, lr: 1.0e-3}\n"
                                              "data: {train: " XLC_INPUTS "/examples/gpt2}\n");
  }
  static void TearDownTestSuite() { program.reset(); }

  static Steps &stepsOf(Plan &plan, int stage) { return plan.programs[stage]->steps; }
  static plan::StepT &stepOf(Plan &plan, int stage, const std::string &label) {
    return *stepsOf(plan, stage)[findLabel(stepsOf(plan, stage), label)];
  }
  static void expectFound(const Damage &damage, const std::string &words) { program->expectFound(damage, words); }
  static void expectFoundInOne(const Damage &damage, const std::string &words) {
    program->expectFound({leaveSound, damage}, words);
  }

  static inline std::unique_ptr<FaultyProgram> program;
};

TEST_F(FaultsOfStages, ABufferIsWrittenWhileItIsSent) {
  expectFound([](Plan &plan) { forget(stepsOf(plan, 0), findLabel(stepsOf(plan, 0), "send 0 to 1")); }, unordered);
}

TEST_F(FaultsOfStages, AMessageIsSentBeforeItIsThere) {
  expectFound([](Plan &plan) { stepOf(plan, 0, "send 0 to 1").after.clear(); }, unordered);
}

TEST_F(FaultsOfStages, AMessageIsReadBeforeItIsThere) {
  expectFound([](Plan &plan) { forget(stepsOf(plan, 1), findLabel(stepsOf(plan, 1), "receive 0 from 0")); }, unordered);
}

TEST_F(FaultsOfStages, AMessageHasAnotherSize) {
  expectFound([](Plan &plan) { stepOf(plan, 1, "receive 0 from 0").action.AsReceive()->bytes -= 4; },
              "stage 0 waits forever at action 'send 0 to 1'");
}

TEST_F(FaultsOfStages, AMessageIsNotReceived) {
  expectFound([](Plan &plan) { leaveOut(stepOf(plan, 1, "receive 0 from 0")); },
              "stage 0 waits forever at action 'send 0 to 1'");
}

TEST_F(FaultsOfStages, MessagesAreReceivedInAnotherOrder) {
  expectFound(
      [](Plan &plan) {
        std::swap(stepOf(plan, 1, "receive 0 from 0").action, stepOf(plan, 1, "receive 1 from 0").action);
      },
      "stage 0 waits forever at action 'send 0 to 1'");
}

TEST_F(FaultsOfStages, AMessageGoesToItsOwnStage) {
  expectFound([](Plan &plan) { stepOf(plan, 0, "send 0 to 1").action.AsSend()->peer = 0; },
              "action 'send 0 to 1' connects stage 0 with stage 0, but must connect two different stages, "
              "numbered below 2");
}

TEST_F(FaultsOfStages, AStageLeavesASumOut) {
  expectFound([](Plan &plan) { leaveOut(stepOf(plan, 1, "all_reduce bucket_2")); },
              "stage 0 waits forever at action 'all_reduce bucket_2'");
}

TEST_F(FaultsOfStages, ARankReceivesLess) {
  expectFoundInOne(
      [](Plan &plan) {
        stepOf(plan, 0, "send 0 to 1").action.AsSend()->bytes -= 4;
        stepOf(plan, 1, "receive 0 from 0").action.AsReceive()->bytes -= 4;
      },
      "of a communicator calls ncclSend of ");
}

TEST_F(FaultsOfStages, ARankSumsOverAnotherCommunicator) {
  expectFoundInOne(
      [](Plan &plan) {
        for (int stage : {0, 1})
          stepOf(plan, stage, "all_reduce bucket_2").action.AsExchange()->group = 1;
      },
      "ncclAllReduce of 16384 elements");
}

} // namespace
