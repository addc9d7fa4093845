// What `xlc calibrate` measures, on the simulated device, whose figures mean nothing, or by scripts/device on a GPU, where they are
// printed.
#include "Cuda/Measure.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

using namespace xlc::runtime::cuda;

TEST(Measure, EveryFigureIsThere) {
  const char *folder = std::getenv("XLC_CUDA_LIBRARIES");
  setenv("XLC_SIMULATE_MEMORY", "83886080", /*overwrite=*/0); // the simulated device has more beside it
  auto begin = std::chrono::steady_clock::now();
  Measured found = measureGpu(folder ? folder : XLC_SIMULATED_LIBRARIES);
  constexpr auto load = std::chrono::seconds(1); // of each kind of products, and of attention
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 4 * load);
  for (double rate : found.products)
    EXPECT_GT(rate, 0);
  EXPECT_GT(found.attention, 0);
  EXPECT_GT(found.bandwidth, 0);
  EXPECT_GT(found.memory, 0);
  EXPECT_GE(found.capability, 80);
  constexpr double mebi = 1 << 20;
  std::printf("figures %s: products %.1f, %.1f, %.1f TFLOP/s in fp32, bf16, fp16; attention %.1f; memory %.0f MiB, "
              "%.2f TB/s; beside an "
              "arena context %.0f MiB, libraries %.0f MiB\n",
              found.name.c_str(), found.products[0] / 1e12, found.products[1] / 1e12, found.products[2] / 1e12,
              found.attention / 1e12, (double)found.memory / mebi, found.bandwidth / 1e12, (double)found.context / mebi,
              (double)found.libraries / mebi);
}
