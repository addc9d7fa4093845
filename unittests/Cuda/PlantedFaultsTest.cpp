// Faults that are planted in the plan of a program for a GPU, each of which the program's own checks or the simulated device find:
// before the first step, as a line of the simulated device, or as losses that are not those of the sound program.
#include "FaultyProgram.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>

using namespace xlc::runtime;
using namespace xlc::test;
namespace plan = xlc::plan;

namespace {

/// The example mlp as a program for a GPU, and its parts.
class Faults : public testing::Test {
protected:
  static void SetUpTestSuite() {
    program = std::make_unique<FaultyProgram>("examples/mlp/logits.onnx",
                                              "batch: {global: 16, micro: 8}\n"
                                              "loss: {type: cross_entropy, logits: logits, labels: y}\n"
                                              "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
                                              "data: {train: " XLC_INPUTS "/examples/mlp}\n");
  }
  static void TearDownTestSuite() { program.reset(); }

  static void expectFound(const Damage &damage, const std::string &words) { program->expectFound(damage, words); }

  /// The first call of a function whose kernel is as asked.
  static plan::CallT &findCall(Plan &plan, const std::function<bool(const plan::KernelT &)> &isIt) {
    for (const auto &function : plan.functions)
      for (const auto &call : function->calls)
        if (isIt(*plan.kernels[call->kernel]))
          return *call;
    std::abort();
  }
  static bool isProduct(const plan::KernelT &kernel) { return kernel.library.type == plan::Library::Contract; }
  static bool isLaunched(const plan::KernelT &kernel) { return !kernel.launches.empty(); }

  static inline std::unique_ptr<FaultyProgram> program;
};

TEST_F(Faults, AnActionThatDoesNotWaitForItsData) {
  expectFound(
      [](Plan &plan) {
        for (const auto &step : plan.programs[0]->steps)
          step->after.clear();
      },
      "the two accesses are not ordered");
}

TEST_F(Faults, ALoadOnTheStreamOfComputationsIsNone) { // fewer streams are another order of the same
  EXPECT_NE(program
                ->train({[](Plan &plan) {
                  for (const auto &step : plan.programs[0]->steps)
                    step->stream = plan::Stream::compute;
                }})
                .losses,
            "");
}

TEST_F(Faults, BlocksOfOtherThreadsThanThoseOfTheCode) {
  expectFound([](Plan &plan) { plan.kernels[findCall(plan, isLaunched).kernel]->launches[0]->block *= 2; },
              "cuLaunchKernel: invalid argument");
}

TEST_F(Faults, TooFewBlocks) {
  expectFound(
      [](Plan &plan) {
        for (const auto &kernel : plan.kernels)
          for (const auto &launch : kernel->launches)
            launch->grid = 1;
      },
      "");
}

TEST_F(Faults, AKernelThatTheImageDoesNotHave) {
  expectFound([](Plan &plan) { plan.kernels[findCall(plan, isLaunched).kernel]->launches[0]->function = "none"; },
              "named symbol not found (CUDA_ERROR_NOT_FOUND)");
}

TEST_F(Faults, AnotherKernel) {
  expectFound(
      [](Plan &plan) {
        plan::KernelT *first = nullptr;
        for (const auto &kernel : plan.kernels)
          if (isLaunched(*kernel) && !std::exchange(first, first ? first : kernel.get()))
            continue;
          else if (isLaunched(*kernel) && kernel.get() != first)
            return std::swap(first->launches, kernel->launches);
      },
      "");
}

TEST_F(Faults, AnOperandThatIsNotAlignedAsTheCodeBelieves) {
  expectFound(
      [](Plan &plan) {
        plan::CallT &call = findCall(plan, isLaunched);
        call.outs[0] = plan::Operand(call.outs[0].slot(), call.outs[0].offset() + 4);
        call.out_bytes[0] -= 4;
        auto view = std::make_unique<plan::ViewT>();
        view->sizes = {call.out_bytes[0] / 4}, view->strides = {1};
        call.out_views[0] = (uint32_t)plan.views.size(), plan.views.push_back(std::move(view));
      },
      "that are not aligned to");
}

TEST_F(Faults, WorkspaceOverTheResult) {
  expectFound(
      [](Plan &plan) {
        plan::CallT &call = findCall(plan, isProduct);
        call.workspace[0] = call.ins[0], call.workspace_bytes = 4096;
      },
      "");
}

TEST_F(Faults, AProductThatTakesARowForAColumn) {
  expectFound([](Plan &plan) { plan.kernels[findCall(plan, isProduct).kernel]->library.AsContract()->a_m += 1; }, "");
}

TEST_F(Faults, AGradientThatIsWrittenInsteadOfAddedTo) {
  expectFound(
      [](Plan &plan) {
        for (const auto &function : plan.functions)
          for (const auto &call : function->calls)
            for (plan::Accumulate &accumulate : call->accumulate)
              accumulate = plan::Accumulate::Never;
      },
      "");
}

TEST_F(Faults, AnArenaThatIsTooSmall) {
  expectFound([](Plan &plan) { plan.programs[0]->arena = 4096; }, "");
}

// The same model, whose weights' gradients are computed beside the rest of backward.
TEST(FaultsOfWeightGradients, TheyComeTooEarlyOrAreNotWaitedFor) {
  FaultyProgram program("examples/mlp/logits.onnx", "batch: {global: 16, micro: 8}\n"
                                                    "loss: {type: cross_entropy, logits: logits, labels: y}\n"
                                                    "optimizer: {type: sgd, lr: 0.1, momentum: 0.9}\n"
                                                    "cluster: {device: h100}\n"
                                                    "runtime: {weight_gradients: beside}\n"
                                                    "data: {train: " XLC_INPUTS "/examples/mlp}\n");
  auto isBeside = [](const plan::StepT &step) { return step.stream == plan::Stream::weights; };
  const std::string unordered = "the two accesses are not ordered";
  program.expectFound(
      [&](Plan &plan) { // of what backward has made for them
        for (const auto &step : plan.programs[0]->steps)
          if (isBeside(*step))
            step->after.clear();
      },
      unordered);
  program.expectFound(
      [&](Plan &plan) { // with memory that is used again, and with the norm
        auto &steps = plan.programs[0]->steps;
        for (const auto &step : steps)
          std::erase_if(step->after, [&](uint32_t other) { return isBeside(*steps[other]); });
      },
      unordered);
}

} // namespace
