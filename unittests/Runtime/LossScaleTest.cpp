// The loss scale, step by step, compared with its two models: runs of PyTorch's GradScaler itself, recorded by
// test/EndToEnd/make_scale_traces.py, and DeepSpeed's rule as its authors wrote it.
#include "Device/LossScale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

plan::LossScaleT rule(double initial, uint64_t window, uint64_t hysteresis, double min) {
  plan::LossScaleT made;
  made.initial = initial, made.window = window, made.hysteresis = hysteresis, made.min = min, made.dynamic = true;
  return made;
}

/// deepspeed.runtime.fp16.loss_scaler.DynamicLossScaler, consecutive_hysteresis=False.
struct DynamicLossScaler {
  double scale;
  int iteration, lastOverflow, window, delayedShift, hysteresis;
  double minScale;

  void update(bool overflow) {
    if (overflow) {
      if (delayedShift == 1 || hysteresis == 1)
        scale = std::max(scale / 2, minScale);
      else
        hysteresis -= 1;
      lastOverflow = iteration;
    } else if ((iteration - lastOverflow) % window == 0) {
      hysteresis = delayedShift;
      scale *= 2;
    }
    ++iteration;
  }
};

/// A run of PyTorch's: the power of two that its scale begins with, and what each step did.
struct GradScalerRun {
  int power = 0;
  uint64_t interval = 0;
  std::string steps; ///< '.' applied; '+' applied, and the scale is doubled; '-' skipped, and the scale is halved
};

std::vector<GradScalerRun> readGradScalerRuns() {
  std::ifstream file(XLC_RUNTIME_INPUTS "/grad_scaler.txt");
  std::string comment;
  std::getline(file, comment);
  std::vector<GradScalerRun> runs;
  for (GradScalerRun run; file >> run.power >> run.interval >> run.steps;)
    runs.push_back(run);
  return runs;
}

TEST(LossScale, MovesAsGradScaler) {
  std::vector<GradScalerRun> runs = readGradScalerRuns();
  ASSERT_EQ(runs.size(), 1000U);
  for (const GradScalerRun &run : runs) {
    ASSERT_EQ(run.steps.size(), 60U);
    plan::LossScaleT numbers = rule(std::ldexp(1, run.power), run.interval, 1, 0x1p-126);
    LossScale scale(numbers);
    float expected = std::ldexp(1.0F, run.power);
    uint64_t applied = 0;
    for (size_t step = 0; step < run.steps.size(); ++step) {
      bool overflows = run.steps[step] == '-';
      expected *= overflows ? 0.5F : run.steps[step] == '+' ? 2 : 1;
      applied += !overflows;
      scale.endStep(!overflows);
      ASSERT_EQ(scale.value(), expected) << run.power << " " << run.interval << " " << run.steps << ", step " << step;
      ASSERT_EQ(scale.applied(), applied);
      ASSERT_EQ(scale.skipped(), step + 1 - applied);
    }
  }
}

TEST(LossScale, WaitsAsDeepSpeed) {
  std::mt19937 random(2);
  for (int pattern = 0; pattern < 1000; ++pattern) {
    int window = 1 + (int)(random() % 6), hysteresis = 1 + (int)(random() % 4);
    plan::LossScaleT numbers = rule(std::ldexp(1, (int)(random() % 16)), window, hysteresis, 1);
    LossScale scale(numbers);
    DynamicLossScaler reference{numbers.initial, 0, -1, window, hysteresis, hysteresis, 1};
    uint32_t odds = random() % 8;
    for (int step = 0; step < 60; ++step) {
      bool overflows = random() % 8 < odds;
      scale.endStep(!overflows);
      reference.update(overflows);
      ASSERT_EQ(scale.value(), (float)reference.scale) << "pattern " << pattern << ", step " << step;
    }
  }
}

TEST(LossScale, IsSpentWhereItCannotFall) {
  plan::LossScaleT numbers = rule(4, 2, 2, 2);
  LossScale scale(numbers);
  for (float expected : {4.0F, 2.0F}) {
    scale.endStep(false);
    EXPECT_EQ(scale.value(), expected);
    EXPECT_FALSE(scale.isSpent());
  }
  scale.endStep(false);
  EXPECT_TRUE(scale.isSpent());
  EXPECT_EQ(scale.skippedInRow(), 3u);
  scale.endStep(true);
  EXPECT_FALSE(scale.isSpent());
  EXPECT_EQ(scale.skippedInRow(), 0u);
}

TEST(LossScale, AFixedOneStays) {
  plan::LossScaleT numbers = rule(1024, 1, 1, 1);
  numbers.dynamic = false;
  LossScale scale(numbers);
  for (bool isApplied : {true, false, true, true})
    scale.endStep(isApplied);
  EXPECT_EQ(scale.value(), 1024);
  EXPECT_EQ(scale.applied(), 3u);
}

} // namespace
