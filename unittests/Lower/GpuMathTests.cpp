// Functions for which CPUs call the C library, and GPUs have code of ours.
#include "SimulatedKernel.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

TEST(GpuMath, LogarithmOfDoubles) {
  constexpr int64_t size = 4099;
  Operand f64{"f64", {size}};
  KernelText text{"loop", {f64}, {f64}, "%y = graph.log %0 : tensor<4099xf64> => %y"};
  Tensor x{{size}, {0, -0.0, -1, INFINITY, NAN, 5e-324, 1e-310, 0x1p-1022, 1, 1.7976931348623157e308}};
  for (double near = 1 - 0.5; (int64_t)x.values.size() < size / 2; near += 1.0 / 2048)
    x.values.push_back(near);
  for (double magnitude = 1e-300; (int64_t)x.values.size() < size; magnitude *= 1.9)
    x.values.push_back(magnitude < 1e300 ? magnitude : magnitude = 1e-290);
  SimulatedKernel gpu(text);
  Tensor y = gpu.run({x}).front();
  ASSERT_EQ(gpu.problem, "");
  for (int64_t i = 0; i < size; ++i) {
    double expected = std::log(x.values[i]), ulp = std::nextafter(std::fabs(expected), INFINITY) - std::fabs(expected);
    bool isSame = y.values[i] == expected || (std::isnan(expected) && std::isnan(y.values[i]));
    EXPECT_TRUE(isSame || std::fabs(y.values[i] - expected) <= 2 * ulp)
        << x.values[i] << ": " << y.values[i] << ", " << expected;
  }
}

/// Rotary tables are made of these: positions times frequencies.
TEST(GpuMath, SinAndCos) {
  Operand f32{"f32", {4099}};
  Tensor x{{4099}, {}};
  for (int64_t i = 0; i < 4099; ++i)
    x.values.push_back((float)(i < 2048   ? (i - 1024) * 0.01
                               : i < 4096 ? (i - 2048) * 37.5
                               : i < 4098 ? 1e6 + i
                                          : INFINITY));
  for (const char *name : {"sin", "cos"}) {
    KernelText text{"loop", {f32}, {f32}, std::string("%y = graph.") + name + " %0 : tensor<4099xf32> => %y"};
    SimulatedKernel gpu(text);
    Tensor found = gpu.run({x}).front();
    ASSERT_EQ(gpu.problem, "");
    for (size_t i = 0; i < 4098; ++i) {
      double at = x.values[i], exact = name[0] == 's' ? std::sin(at) : std::cos(at);
      EXPECT_NEAR(found.values[i], exact, 1.2e-7) << name << " of " << at;
    }
    EXPECT_TRUE(std::isnan(found.values[4098])) << name;
  }
}

} // namespace
