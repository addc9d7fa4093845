// The loss scale, step for step, beside the two that it follows: written here as their authors wrote them.
#include "Device/LossScale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

plan::LossScaleT rule(double initial, uint64_t window, uint64_t hysteresis, double min) {
  plan::LossScaleT made;
  made.initial = initial, made.window = window, made.hysteresis = hysteresis, made.min = min, made.dynamic = true;
  return made;
}

/// torch.amp.GradScaler: aten/src/ATen/native/cuda/AmpKernels.cu, amp_update_scale, with its default factors 2 and 0.5.
struct GradScaler {
  float scale;
  int tracker, interval;

  void update(bool foundInf) {
    if (foundInf) {
      scale = scale * 0.5F;
      tracker = 0;
      return;
    }
    int successful = tracker + 1;
    if (successful == interval) {
      float grown = scale * 2.0F;
      if (std::isfinite(grown))
        scale = grown;
      tracker = 0;
    } else {
      tracker = successful;
    }
  }
};

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

TEST(LossScale, MovesAsGradScaler) {
  std::mt19937 random(1);
  for (int pattern = 0; pattern < 1000; ++pattern) {
    int interval = 1 + (int)(random() % 6);
    plan::LossScaleT numbers = rule(std::ldexp(1, (int)(random() % 120) - 20), interval, 1, 0x1p-126);
    LossScale scale(numbers);
    GradScaler reference{(float)numbers.initial, 0, interval};
    uint32_t odds = random() % 8;
    uint64_t applied = 0;
    for (int step = 0; step < 60; ++step) {
      bool overflows = random() % 8 < odds;
      applied += !overflows;
      scale.endStep(!overflows);
      reference.update(overflows);
      ASSERT_EQ(scale.value(), reference.scale) << "pattern " << pattern << ", step " << step;
      ASSERT_EQ(scale.applied(), applied);
      ASSERT_EQ(scale.skipped(), (uint64_t)step + 1 - applied);
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
